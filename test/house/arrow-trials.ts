/** A module in a made-up project, by what it imports: a module of that project (`….ts`) or a package. */
export interface Trial {
  /** A folder, or a file where the name matters. */
  readonly from: string;
  readonly imports: string;
  readonly isTypeOnly?: true;
}

/** What package.json of the made-up project calls dependencies, development dependencies and nothing at all. */
export const dependencies = ['zod', 'msgpackr', '@aws-crypto/crc32c', '@aws-sdk/client-s3'];
export const devDependencies = ['fauxqs', '@aws-sdk/client-kinesis', 'aws-cdk-lib'];
export const undeclaredPackages = ['left-over'];

/** Modules for trials to import, each with its text. */
export const targets: Readonly<Record<string, string>> = {
  'shared/core/position.ts': '',
  'shared/core/platform.ts': '',
  'shared/operator/sink.ts': '',
  'shared/operator/testing/operator-driver.ts': '',
  'shared/ports/state-store.ts': '',
  'shared/config/job.ts': '',
  'shared/runtime/process-batch.ts': '',
  'shared/adapters/s3/s3-object-store.ts': '',
  'shared/adapters/system/backoff.ts': '',
  'shared/adapters/system/node-system.ts': '',
  'shared/adapters/memory/memory-sink.ts': '',
  'shared/composition/operator-handler.ts': '',
  'infra/app.ts': '',
  'functions/one/handler.ts': '',
  'functions/one/operator.ts': '',
  'localstack/local-services.ts': '',
  'cli/main.ts': '',
  'cli/table.ts': '',
  'cli/demo/flights.ts': '',
  'test/fixture.ts': "import type { Value } from './circle.ts';",
  'test/position.test.ts': "import type { Value } from '../shared/core/position.ts';",
  /** Imported by nobody. */
  'shared/core/dead.ts': '',
};

/** By the rule that refuses them. */
export const refusedTrials: Readonly<Record<string, readonly Trial[]>> = {
  'layer-core': [
    { from: 'shared/core', imports: 'shared/ports/state-store.ts' },
    { from: 'shared/core', imports: 'shared/ports/state-store.ts', isTypeOnly: true },
    { from: 'shared/core', imports: 'shared/operator/sink.ts' },
    { from: 'shared/core', imports: 'node:crypto' },
    { from: 'shared/core', imports: 'crypto' },
    { from: 'shared/core', imports: 'msgpackr' },
    { from: 'shared/core', imports: '@aws-crypto/crc32c' },
    { from: 'shared/core', imports: 'zod' },
  ],
  'layer-core-platform': [{ from: 'shared/core/platform.ts', imports: 'msgpackr' }],
  'layer-core-pack': [{ from: 'shared/core/pack.ts', imports: 'node:zlib' }],
  'layer-core-documents': [{ from: 'shared/core/manifest-codec.ts', imports: 'msgpackr' }],
  'layer-operator': [
    { from: 'shared/operator', imports: 'shared/ports/state-store.ts' },
    { from: 'shared/operator', imports: 'shared/operator/testing/operator-driver.ts' },
    { from: 'shared/operator', imports: 'node:util' },
  ],
  'layer-operator-testing': [
    { from: 'shared/operator/testing', imports: 'shared/adapters/memory/memory-sink.ts' },
    { from: 'shared/operator/testing', imports: 'node:fs' },
  ],
  'layer-ports': [
    { from: 'shared/ports', imports: 'shared/operator/sink.ts' },
    { from: 'shared/ports', imports: '@aws-sdk/client-s3', isTypeOnly: true },
  ],
  'layer-config': [
    { from: 'shared/config', imports: 'shared/core/position.ts' },
    { from: 'shared/config', imports: 'node:process' },
  ],
  'layer-runtime': [
    { from: 'shared/runtime', imports: 'shared/adapters/memory/memory-sink.ts' },
    { from: 'shared/runtime', imports: 'shared/config/job.ts' },
    { from: 'shared/runtime', imports: 'shared/operator/testing/operator-driver.ts' },
    { from: 'shared/runtime', imports: 'node:timers/promises' },
  ],
  'layer-adapter-memory': [
    { from: 'shared/adapters/memory', imports: 'shared/runtime/process-batch.ts' },
    { from: 'shared/adapters/memory', imports: 'shared/adapters/s3/s3-object-store.ts' },
    { from: 'shared/adapters/memory', imports: 'shared/adapters/system/node-system.ts' },
    { from: 'shared/adapters/memory', imports: '@aws-sdk/client-s3' },
  ],
  'layer-adapter-s3': [
    { from: 'shared/adapters/s3', imports: '@aws-sdk/client-kinesis' },
    { from: 'shared/adapters/s3', imports: 'shared/config/job.ts' },
  ],
  'layer-adapter-kinesis': [{ from: 'shared/adapters/kinesis', imports: '@aws-sdk/client-s3' }],
  'layer-adapter-lambda': [{ from: 'shared/adapters/lambda', imports: '@aws-sdk/client-kinesis' }],
  'layer-adapter-dynamodb': [{ from: 'shared/adapters/dynamodb', imports: '@aws-sdk/client-s3' }],
  'layer-adapter-system': [
    { from: 'shared/adapters/system', imports: 'shared/adapters/s3/s3-object-store.ts' },
  ],
  'layer-composition': [
    { from: 'shared/composition', imports: 'functions/one/operator.ts' },
    { from: 'shared/composition', imports: 'localstack/local-services.ts' },
  ],
  'layer-infra': [
    { from: 'infra', imports: 'shared/core/position.ts' },
    { from: 'infra', imports: 'functions/one/operator.ts' },
    { from: 'infra', imports: '@aws-sdk/client-s3' },
  ],
  'layer-users-operator': [
    { from: 'functions/two', imports: 'shared/core/position.ts' },
    { from: 'functions/two', imports: 'functions/one/handler.ts' },
    { from: 'functions/two', imports: 'node:crypto' },
  ],
  'layer-functions': [
    { from: 'functions/three/handler.ts', imports: 'shared/adapters/s3/s3-object-store.ts' },
    { from: 'functions/four/handler.ts', imports: 'functions/one/operator.ts' },
    { from: 'functions/five/handler.ts', imports: '@aws-sdk/client-s3' },
  ],
  'layer-localstack': [
    { from: 'localstack', imports: 'shared/runtime/process-batch.ts' },
    { from: 'localstack', imports: 'functions/one/handler.ts' },
    { from: 'localstack', imports: 'cli/main.ts' },
  ],
  'layer-localstack-endpoint': [
    { from: 'localstack/endpoint', imports: 'localstack/local-services.ts' },
    { from: 'localstack/endpoint', imports: 'shared/adapters/s3/s3-object-store.ts' },
    { from: 'localstack/endpoint', imports: 'cli/main.ts' },
  ],
  'layer-cli': [
    { from: 'cli', imports: 'shared/adapters/s3/s3-object-store.ts' },
    { from: 'cli', imports: 'functions/one/operator.ts' },
    { from: 'cli', imports: 'localstack/local-services.ts' },
    { from: 'cli', imports: 'test/fixture.ts' },
    { from: 'cli', imports: 'shared/adapters/memory/memory-sink.ts' },
  ],
  'layer-cli-demo': [
    { from: 'cli/demo', imports: 'functions/one/handler.ts' },
    { from: 'cli/demo', imports: 'infra/app.ts' },
  ],
  'layer-cli-doctor': [
    { from: 'cli/doctor', imports: 'shared/adapters/memory/memory-system.ts' },
    { from: 'cli/doctor', imports: 'localstack/local-services.ts' },
    { from: 'cli/doctor', imports: 'infra/app.ts' },
  ],
  'layer-cli-lab': [
    { from: 'cli/lab', imports: 'shared/adapters/s3/s3-object-store.ts' },
    { from: 'cli/lab', imports: 'localstack/local-services.ts' },
    { from: 'cli/lab', imports: '@aws-sdk/client-s3' },
  ],
  'layer-bench': [
    { from: 'bench', imports: 'shared/adapters/s3/s3-object-store.ts' },
    { from: 'bench', imports: 'functions/one/operator.ts' },
    { from: 'bench', imports: 'cli/main.ts' },
    { from: 'bench', imports: 'test/fixture.ts' },
  ],
  'no-cycles': [
    // Closed by a target that imports it back.
    { from: 'test/circle.ts', imports: 'test/fixture.ts', isTypeOnly: true },
  ],
  'sinks-as-types-only': [{ from: 'shared/adapters/memory', imports: 'shared/operator/sink.ts' }],
  'no-undeclared-packages': [{ from: 'test', imports: 'left-over' }],
  'no-dev-packages-in-functions': [
    { from: 'shared/composition', imports: '@aws-sdk/client-kinesis' },
  ],
  'no-broken-imports': [{ from: 'test', imports: 'shared/core/missing.ts' }],
};

export const allowedTrials: readonly Trial[] = [
  { from: 'shared/core', imports: 'shared/core/platform.ts' },
  { from: 'shared/operator', imports: 'shared/core/position.ts' },
  { from: 'shared/operator', imports: 'zod' },
  { from: 'shared/operator/testing', imports: 'node:util' },
  { from: 'shared/ports', imports: 'shared/core/position.ts' },
  { from: 'shared/runtime', imports: 'shared/ports/state-store.ts' },
  { from: 'shared/adapters/s3', imports: '@aws-sdk/client-s3' },
  { from: 'shared/adapters/s3', imports: 'shared/adapters/system/backoff.ts' },
  { from: 'shared/adapters/memory', imports: 'shared/operator/sink.ts', isTypeOnly: true },
  { from: 'shared/adapters/system', imports: 'node:crypto' },
  { from: 'shared/composition', imports: 'shared/adapters/s3/s3-object-store.ts' },
  { from: 'infra', imports: 'shared/config/job.ts' },
  { from: 'infra', imports: 'aws-cdk-lib' },
  { from: 'functions/two', imports: 'shared/operator/sink.ts' },
  { from: 'functions/six/handler.ts', imports: 'shared/composition/operator-handler.ts' },
  { from: 'localstack', imports: 'fauxqs' },
  { from: 'localstack/endpoint', imports: 'cli/demo/flights.ts' },
  { from: 'cli', imports: 'shared/composition/operator-handler.ts' },
  { from: 'cli/demo', imports: 'functions/one/operator.ts' },
  { from: 'cli/demo', imports: 'localstack/local-services.ts' },
  { from: 'cli/lab', imports: 'shared/adapters/memory/memory-sink.ts' },
  { from: 'cli/lab', imports: 'zod' },
  { from: 'bench', imports: 'shared/runtime/process-batch.ts' },
  { from: 'bench', imports: 'shared/adapters/memory/memory-sink.ts' },
  { from: 'bench', imports: 'cli/table.ts' },
  { from: 'test', imports: 'functions/one/handler.ts' },
];
