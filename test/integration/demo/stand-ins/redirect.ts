// Loaded before the command line: gives the demo other modules than its own in some places.
import { registerHooks } from 'node:module';

const redirects = JSON.parse(process.env['HOLDFAST_TEST_REDIRECT'] ?? '{}') as Readonly<
  Record<string, string>
>;

registerHooks({
  resolve(specifier, context, next) {
    const isOfDemo = context.parentURL?.endsWith('/cli/demo/run-demo.ts') === true;
    const replacement = isOfDemo ? redirects[specifier] : undefined;
    return replacement === undefined
      ? next(specifier, context)
      : { url: replacement, format: 'module-typescript', shortCircuit: true };
  },
});
