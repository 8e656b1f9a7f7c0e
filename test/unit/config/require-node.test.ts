import { describe, expect, it } from 'vitest';
import { requireNode } from '../../../shared/config/require-node.mjs';

describe('requireNode', () => {
  it.each(['24.0.0', 'v24.21.0', '26.11.1', 'v100.0.0'])('goes on with %s', (version) => {
    expect(() => requireNode(version)).not.toThrow();
  });

  it.each(['20.20.2', 'v22.18.0', '23.11.1', '4.9.1', 'unknown'])('refuses %s', (version) => {
    expect(() => requireNode(version)).toThrow(
      `Holdfast needs Node 24 or newer to run its TypeScript sources as they are, got ${version}; start it through npm`,
    );
  });
});
