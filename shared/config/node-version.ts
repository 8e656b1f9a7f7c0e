const NODE_MAJOR_MIN = 24;

/**
 * Refuses to go on with a Node that is too old. `version` as in `process.versions.node`, with or
 * without the leading `v`.
 */
export function requireNode24(version: string): void {
  const major = Number(/^v?(\d+)\./.exec(version)?.[1]);
  if (major >= NODE_MAJOR_MIN) return;
  throw new Error(
    `Holdfast needs Node ${NODE_MAJOR_MIN} or newer to run its TypeScript sources as they are, got ${version}; ` +
      'start it through npm (npm run … or npx …), which finds the Node that npm ci has installed in this project',
  );
}
