// Plain JavaScript, so that any Node can read it: older ones cannot load the TypeScript sources at all, and their own
// error would not say what to do.

const NODE_MAJOR_MIN = 24;

/**
 * Refuses to go on with a Node that is too old.
 *
 * @param {string} version as in `process.versions.node`, with or without the leading `v`
 */
export function requireNode(version) {
  const major = Number(/^v?(\d+)\./.exec(version)?.[1]);
  if (major >= NODE_MAJOR_MIN) return;
  throw new Error(
    `Holdfast needs Node ${NODE_MAJOR_MIN} or newer to run its TypeScript sources as they are, got ${version}; ` +
      'start it through npm (npm run … or npx …), which finds the Node that npm ci has installed in this project',
  );
}
