import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { listJobs, readTemplate } from '../../../cli/deploy/job-template.ts';
import { buildHandler } from '../../../infra/bundle-handler.ts';

/** The name of the object that the code of the first operator is in, as a template has it. */
export function codeOf(templateText: string): string {
  return listJobs(readTemplate(templateText, 'template'))[0]!.code[0]!.asset!;
}

/** A template that can be changed. */
export interface LooseTemplate {
  Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
}

/**
 * Writes what cdk synth would write with other code of the operator, and other resources.
 *
 * @param cdkOut what it has written with the present code
 * @returns the key of the new code
 */
export function writeNextAssembly(
  cdkOut: string,
  stack: string,
  folder: string,
  {
    handler,
    change,
  }: { readonly handler?: string; readonly change?: (template: LooseTemplate) => void },
): string {
  const read = (file: string): string => readFileSync(join(cdkOut, file), 'utf8');
  const templateText = read(`${stack}.template.json`);
  const before = codeOf(templateText).replace(/\.zip$/, '');
  let after = before;
  const files = handler === undefined ? [] : buildHandler(handler).outputFiles;
  if (handler !== undefined) {
    after = createHash('sha256')
      .update(files.map(({ hash }) => hash).join())
      .digest('hex');
    mkdirSync(join(folder, `asset.${after}`), { recursive: true });
    for (const { path, contents } of files) {
      writeFileSync(join(folder, `asset.${after}`, basename(path)), contents);
    }
  }
  const template = JSON.parse(templateText.replaceAll(before, after)) as LooseTemplate;
  change?.(template);
  writeFileSync(join(folder, `${stack}.template.json`), JSON.stringify(template));
  writeFileSync(
    join(folder, `${stack}.assets.json`),
    read(`${stack}.assets.json`).replaceAll(before, after),
  );
  writeFileSync(join(folder, 'manifest.json'), read('manifest.json'));
  return `${after}.zip`;
}
