import { requireNode } from '../shared/config/require-node.mjs';

// What cdk.json starts.
requireNode(process.versions.node);
await import('./app.ts');
