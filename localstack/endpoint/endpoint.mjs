import { requireNode } from '../../shared/config/require-node.mjs';

try {
  requireNode(process.versions.node);
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
await import('./main.ts');
