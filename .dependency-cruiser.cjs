/*
 * The arrows of the architecture as data. A layer may import what its `mayImport` lists and nothing else, Node's modules
 * and packages included; type imports count. Every folder belongs to one layer (test/house/arrows.test.ts).
 *
 *   core  ←  operator                    pure; no AWS, no clock, no dice, no environment
 *   core  ←  ports  ←  adapters          adapters never see the runtime
 *   core, operator, ports  ←  runtime    orchestration over ports
 *   composition                          the only place that wires
 *   infra → config                       so that synth loads no runtime
 *   functions, cli, localstack, bench    entry points, imported by nobody but tests
 */

/** Matches a package, wherever it is installed. */
const npm = (name) => `(^|/)node_modules/(@types/)?${name}/`;
/** Matches a module of Node, with or without its prefix. A layer that `usesNode` may import them all. */
const node = (name) => `^(node:)?${name}$`;

const core = '^shared/core/';
const operator = '^shared/operator/(?!testing/)';
const operatorTesting = '^shared/operator/testing/';
const ports = '^shared/ports/';
const config = '^shared/config/';
/** In functions everything but the handlers is what users write: operators and what they need. */
const usersOperator = '^functions/[^/]+/(?!handler[.]ts$)';
const zod = npm('zod');

const cli = [
  '^cli/',
  '^shared/(?!adapters/|operator/testing/)',
  npm('@aws-sdk/[^/]+'),
  npm('@smithy/[^/]+'),
  npm('commander'),
];

/** Each AWS service's client belongs to one adapter. */
const adapter = (vendor, packages = []) => ({
  name: `adapter-${vendor}`,
  files: `^shared/adapters/${vendor}/`,
  mayImport: [
    core,
    ports,
    '^shared/operator/sink[.]ts$',
    `^shared/adapters/${vendor}/`,
    '^shared/adapters/system/backoff[.]ts$',
    ...packages,
  ],
  because:
    'an adapter fills a port for one vendor: it knows core, its port and that vendor, never the runtime or another adapter (pausing between tries excepted)',
});

const layers = [
  {
    name: 'core',
    files: '^shared/core/',
    except: '^shared/core/(platform|pack|manifest-codec|reservation|compaction-plan)[.]ts$',
    mayImport: [core],
    because: 'core is the domain and pure: every other layer rests on it, so it rests on nothing',
  },
  {
    name: 'core-platform',
    files: '^shared/core/platform[.]ts$',
    mayImport: [core, node('crypto'), node('zlib')],
    because: 'platform.ts names the few pure functions that core takes from Node',
  },
  {
    name: 'core-pack',
    files: '^shared/core/pack[.]ts$',
    mayImport: [core, npm('msgpackr')],
    because: 'the bytes of stored formats come from one encoder, configured in one place',
  },
  {
    name: 'core-documents',
    files: '^shared/core/(manifest-codec|reservation|compaction-plan)[.]ts$',
    mayImport: [core, zod],
    because: 'stored documents may come from anywhere: all of one is checked against one schema',
  },
  {
    name: 'operator',
    files: operator,
    mayImport: [core, operator, zod, npm('tdigest')],
    because: 'users write against it: it must load in their unit tests with no AWS and no clock',
  },
  {
    name: 'operator-testing',
    files: operatorTesting,
    mayImport: [core, operator, operatorTesting, zod, node('util')],
    because: 'the test driver runs operators in the process of a unit test, with nothing around it',
  },
  {
    name: 'ports',
    files: ports,
    mayImport: [core, ports],
    because: 'a port says what is needed in words of the domain, not of a vendor',
  },
  {
    name: 'config',
    files: config,
    mayImport: [config, zod],
    because: 'synth and runtime both read it, so it must drag in neither',
  },
  {
    name: 'runtime',
    files: '^shared/runtime/',
    mayImport: [core, operator, ports, '^shared/runtime/'],
    because:
      'the runtime knows ports only: the same code runs on AWS, on the local host and in the model of overlapping invocations',
  },
  adapter('dynamodb', [npm('@aws-sdk/client-dynamodb'), npm('@aws-sdk/util-dynamodb')]),
  adapter('kinesis', [npm('@aws-sdk/client-kinesis'), npm('aws-lambda')]),
  adapter('lambda', [npm('@aws-sdk/client-lambda'), zod]),
  adapter('s3', [npm('@aws-sdk/client-s3')]),
  adapter('memory'),
  { ...adapter('system'), usesNode: true },
  {
    name: 'composition',
    files: '^shared/composition/',
    mayImport: ['^shared/', npm('@aws-sdk/[^/]+'), npm('@smithy/[^/]+'), zod],
    usesNode: true,
    because: 'composition wires what the entry points run; it must not know who they are',
  },
  {
    name: 'infra',
    files: '^infra/',
    mayImport: ['^infra/', config, npm('aws-cdk-lib'), npm('constructs'), npm('esbuild')],
    usesNode: true,
    because:
      'synth must load no runtime: infra and the running code share their configuration only',
  },
  {
    name: 'users-operator',
    files: usersOperator,
    mayImport: [usersOperator, operator, zod],
    because: 'an operator is deterministic: what it cannot import it cannot depend on',
  },
  {
    name: 'functions',
    files: '^functions/([^/]+)/handler[.]ts$',
    mayImport: ['^functions/$1/', '^shared/(?!adapters/|operator/testing/)', npm('aws-lambda')],
    usesNode: true,
    because:
      'a handler decodes, calls one function of the runtime and encodes; what it runs on comes from composition, and each function is deployed by itself',
  },
  {
    name: 'localstack',
    files: '^localstack/',
    except: '^localstack/endpoint/',
    mayImport: [
      '^localstack/',
      '^shared/composition/',
      config,
      npm('@aws-sdk/[^/]+'),
      npm('@smithy/[^/]+'),
      npm('dynalite'),
      npm('fastify'),
      npm('fauxqs'),
      npm('kinesis-local'),
    ],
    usesNode: true,
    because: 'the local AWS must not know what runs on it: it learns that from the template',
  },
  {
    name: 'localstack-endpoint',
    files: '^localstack/endpoint/',
    mayImport: [
      '^localstack/endpoint/',
      '^localstack/embedded/(service-clients|stop-signals)[.]ts$',
      '^cli/(demo/|(read-whole|table)[.]ts$)',
      '^shared/(?!adapters/|operator/testing/)',
      npm('@aws-sdk/[^/]+'),
      npm('commander'),
      zod,
    ],
    usesNode: true,
    because:
      'it takes the demonstration to an endpoint that others have written: it deploys and asks as users do, and brings no local AWS of its own',
  },
  {
    name: 'cli',
    files: '^cli/',
    except: '^cli/(demo|doctor|lab)',
    mayImport: [...cli, npm('cli-progress')],
    usesNode: true,
    because: 'the command line takes what it runs on from composition, as the functions do',
  },
  {
    name: 'cli-demo',
    files: '^cli/demo',
    mayImport: [...cli, '^localstack/', usersOperator, npm('cli-progress')],
    usesNode: true,
    because:
      'the demo starts the local AWS and asks the operator what to expect; otherwise entry points are imported by tests only',
  },
  {
    name: 'cli-doctor',
    files: '^cli/doctor',
    mayImport: [
      ...cli,
      '^shared/adapters/(?!memory/)',
      '^infra/bundle-handler[.]ts$',
      npm('fflate'),
    ],
    usesNode: true,
    because:
      "the doctor asks an endpoint by the adapters' own requests, and by a function that is bundled as those of a job",
  },
  {
    name: 'cli-lab',
    files: '^cli/lab',
    mayImport: [
      '^cli/',
      '^shared/(?!adapters/(?!memory/)|operator/testing/)',
      npm('commander'),
      zod,
    ],
    usesNode: true,
    because:
      'the lab brings its own operator and restores copies of the stores in memory, which no store of a vendor can give; it needs no AWS',
  },
  {
    name: 'bench',
    files: '^bench/',
    mayImport: [
      '^bench/',
      '^shared/(?!adapters/(?!memory/|system/|kinesis/lambda-event[.]ts)|operator/testing/)',
      '^localstack/embedded/',
      '^cli/table[.]ts$',
      npm('@aws-sdk/[^/]+'),
      '^infra/bundle-handler[.]ts$',
      npm('msgpackr'),
      zod,
    ],
    usesNode: true,
    because:
      'a bench measures the code as it is deployed, bundled by what bundles it for AWS, over stores that cost as little as can be or the local AWS, with events as Lambda hands them over; it brings its own operators, and tables as the command line prints them',
  },
];

const layerRules = layers.map(({ name, files, except, mayImport, usesNode, because }) => ({
  name: `layer-${name}`,
  comment: because,
  severity: 'error',
  from: { path: files, ...(except === undefined ? {} : { pathNot: except }) },
  to: { pathNot: mayImport, ...(usesNode ? { dependencyTypesNot: ['core'] } : {}) },
}));

const generalRules = [
  {
    name: 'no-cycles',
    comment: 'modules in a cycle can only be understood, tested and loaded together',
    from: {},
    to: { circular: true },
  },
  {
    name: 'sinks-as-types-only',
    comment: 'an adapter needs the shape of a sink, not the code that operators are built with',
    from: { path: '^shared/adapters/' },
    to: { path: operator, dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'no-undeclared-packages',
    comment: 'a package that package.json does not name can vanish with its owner’s next version',
    from: {},
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'no-dev-packages-in-functions',
    comment: 'functions are bundled from what package.json calls dependencies',
    from: { path: '^(shared|functions)/' },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'no-broken-imports',
    comment: 'the import leads nowhere',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'no-dead-modules',
    comment: 'nothing but its own tests reaches this module: wire it or delete it',
    from: { path: '^(infra|functions|cli|localstack)/' },
    to: {
      path: '^shared/',
      // What the users of the template may import, though no function of the template does.
      pathNot: [
        '^shared/adapters/memory/',
        operatorTesting,
        '^shared/operator/(aggregators/|windows/|top-n)',
        '[.]d[.]mts$',
      ],
      reachable: false,
    },
  },
  {
    name: 'no-untested-modules',
    comment: 'no test reaches this module',
    from: { path: '^test/.+[.]test[.]ts$' },
    to: {
      path: '^shared/(core|operator|config|runtime|adapters)/',
      pathNot: '[.]d[.]mts$',
      reachable: false,
    },
  },
].map((rule) => ({ severity: 'error', ...rule }));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [...layerRules, ...generalRules],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'require', 'node', 'default'],
      mainFields: ['types', 'main'],
      extensions: ['.ts', '.mjs', '.cjs', '.js', '.d.ts', '.json'],
    },
  },
};
