/**
 * The rules of import (docs/architecture.md): which room may know which, in which order the subjects of the service
 * stand, and which kinds of files may reach outside the process. The comment of each rule says what the rule
 * protects. Paths are matched after resolution. Type-only imports count as well, unless a rule says otherwise.
 */

/** Everything of a room, by its first folder. */
const room = (...names) => `^(${names.join('|')})/`;
/** Everything of subjects of the service. */
const subject = (...names) => `^service/(${names.join('|')})/`;
/** A package in node_modules, by its name. */
const packages = (...names) => `(^|/)node_modules/(${names.join('|')})(/|$)`;
/** Node's own modules arrive under their bare names. */
const nodeModules = (...names) => `^(node:)?(${names.join('|')})$`;

/** A room may know these paths and nothing else; with `node`, also every module that Node brings. */
function onlyKnows(name, comment, from, allowed, { node = false } = {}) {
  return {
    name,
    comment,
    severity: 'error',
    from,
    to: { pathNot: allowed, ...(node && { dependencyTypesNot: ['core'] }) },
  };
}

/** Ambient types (@types/node, @types/aws-lambda) are part of the language here. */
const types = packages('@types/[^/]+');

/**
 * The subjects of the service, from the ground up. A subject knows subjects of lower floors alone. The platform has no
 * floor: it names what the openers of all subjects take, and only openers and entries take its values.
 */
const floors = [
  ['contract'],
  ['values'],
  ['aws'],
  ['accounts', 'outbound', 'uploads'],
  ['catalog'],
  ['vendors'],
  ['creations'],
  ['api', 'audit', 'notices', 'usage'],
  ['payments', 'webhooks'],
  ['copies', 'erase', 'events', 'generate', 'operated', 'reconcile', 'render'],
  ['mcp', 'openai', 'operator', 'portal'],
  ['canary', 'document', 'release'],
];

const orderOfSubjects = floors.flatMap((floor, index) =>
  floor.map((name) => ({
    name: 'order-of-subjects',
    comment:
      'A subject knows subjects of lower floors alone. So nobody has to climb to understand a subject.',
    severity: 'error',
    from: { path: subject(name) },
    to: {
      path: subject(
        ...floors
          .slice(index)
          .flat()
          .filter((other) => other !== name),
      ),
    },
  })),
);

/**
 * The files of the service that may reach outside the process. Their names tell it: stores, what they read and write,
 * and openers. Some subjects are the outside as a whole.
 */
const outside = [
  '-(store|items|reads|transaction|executions|box|targets|pool)\\.ts$',
  '/(executions|charge|refund|lease|canary-account|openid)\\.ts$',
  '/open(\\.ts|-(?!count|work)[a-z-]+\\.ts)$',
  // They unpack bytes with zlib, and with codecs that are files.
  '/thumbnails/(png-samples|wasm)\\.ts$',
  subject('aws', 'outbound', 'vendors', 'release', 'document', 'platform'),
];

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or hide a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment:
        'An import that resolves to nothing escapes every other rule. The client is built only when it is packed, so its name may resolve to nothing.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^darkroom-client/' },
    },
    ...orderOfSubjects,
    onlyKnows(
      'the-service-knows-itself',
      'What runs for clients knows nothing of the rooms that deploy, operate, imitate or show it.',
      { path: room('service'), pathNot: subject('document') },
      [
        room('service'),
        packages(
          '@aws-sdk/[^/]+',
          '@jsquash/webp',
          '@smithy/node-http-handler',
          '@middy/core',
          '@modelcontextprotocol/server',
          '@smithy/(core|signature-v4)',
          'ipaddr\\.js',
          'jpeg-js',
          'oauth4webapi',
          'zod',
        ),
        types,
      ],
      { node: true },
    ),
    {
      name: 'outside-is-named',
      comment:
        'A rule or a handler has no network, disk, clock, environment or AWS of its own: only node:crypto for hash and HMAC.',
      severity: 'error',
      from: { path: room('service'), pathNot: outside },
      to: {
        path: [packages('@aws-sdk/[^/]+', '@smithy/[^/]+', 'oauth4webapi'), '^service/aws/dynamodb/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'rules-import-nothing-of-node',
      comment: 'The same for the modules of Node.',
      severity: 'error',
      from: { path: room('service'), pathNot: outside },
      to: { dependencyTypes: ['core'], pathNot: nodeModules('crypto') },
    },
    {
      name: 'rules-know-types-of-stores',
      comment: 'A handler speaks to what its opener hands in. It knows a store by its type alone.',
      severity: 'error',
      from: { path: room('service'), pathNot: outside },
      to: {
        path: [
          '^service/.*-(store|reads|transaction|executions|targets|pool)\\.ts$',
          '^service/.*/executions\\.ts$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'openers-compose',
      comment: 'Only entries, the operator, the simulation, tests and other openers open a set of services.',
      severity: 'error',
      from: { path: room('service'), pathNot: '/open(\\.ts|-(?!count|work)[a-z-]+\\.ts)$' },
      to: { path: '^service/.*/open(\\.ts|-(?!count|work)[a-z-]+\\.ts)$', dependencyTypesNot: ['type-only'] },
    },
    onlyKnows(
      'entries-know-the-service',
      'An entry names an operation, its opener and the parts of Lambda. It holds no rule.',
      { path: room('functions') },
      [room('functions', 'service'), packages('@aws-sdk/[^/]+'), types],
    ),
    {
      name: 'entries-are-started',
      comment: 'AWS starts an entry: no other room imports it.',
      severity: 'error',
      from: { pathNot: room('functions', 'test') },
      to: { path: room('functions') },
    },
    onlyKnows(
      'lib-knows-the-contract',
      'Constructs know the contract of the service, its machines and the catalog; handlers and the state machine only by their paths.',
      { path: room('lib') },
      [
        room('lib'),
        subject('contract'),
        '^service/catalog/[\\w-]+\\.json$',
        '^cdk\\.json$',
        '^service/creations/machines\\.ts$',
        packages('aws-cdk-lib', 'constructs', 'esbuild', 'zod'),
        nodeModules('fs', 'path', 'url'),
      ],
    ),
    onlyKnows(
      'config-knows-settings',
      'What an operator writes: values, and the type that they have to be of.',
      { path: '^lib/config/' },
      ['^lib/settings\\.ts$'],
    ),
    onlyKnows(
      'local-stands-in-for-aws',
      'The one machine runs bundles as AWS does: it sees nothing of the service but the contract.',
      { path: room('local') },
      [
        room('local'),
        '^service/contract/operations\\.ts$',
        packages(
          '@aws-sdk/client-[^/]+',
          '@types/big\\.js',
          'big\\.js',
          'aws-local-stepfunctions',
          '@sinonjs/fake-timers',
          'oidc-provider',
          'zod',
        ),
        types,
      ],
      { node: true },
    ),
    onlyKnows(
      'the-table-engine-knows-itself',
      'The engine of DynamoDB is the same for the one machine and the simulation: it knows neither.',
      { path: '^local/dynamodb/', pathNot: '^local/dynamodb/journal/' },
      [
        '^local/dynamodb/',
        '^local/aws/aws-error\\.ts$',
        packages('@types/big\\.js', 'big\\.js', 'zod'),
        types,
        nodeModules('crypto'),
      ],
    ),
    {
      name: 'the-table-engine-knows-no-storage',
      comment: 'Where the tables last is chosen by who starts the engine.',
      severity: 'error',
      from: { path: '^local/dynamodb/', pathNot: '^local/dynamodb/journal/' },
      to: { path: '^local/dynamodb/journal/' },
    },
    {
      name: 'local-knows-types-of-aws-only',
      comment: 'The stand-in is the other end of the wire: of the AWS clients it takes types.',
      severity: 'error',
      from: { path: room('local') },
      to: { path: packages('@aws-sdk/client-[^/]+'), dependencyTypesNot: ['type-only'] },
    },
    onlyKnows(
      'admin-knows-the-service',
      'The operator’s command works on the tables and queues of the service. It finds a service of this machine by its record, exports the copy of its tables, and checks a backup.',
      { path: room('admin') },
      [
        room('admin', 'service', 'statemachines'),
        '^client/command/terminal/',
        '^local/(service-record|copied-items|backup)\\.ts$',
        '^lib/(settings|stage-settings)\\.ts$',
        packages(
          '@aws-sdk/[^/]+',
          '@smithy/node-http-handler',
          '@inquirer/[^/]+',
          'commander',
          'picocolors',
          'zod',
        ),
        types,
      ],
      { node: true },
    ),
    onlyKnows(
      'the-document-knows-the-contract',
      'The OpenAPI document: schemas and words that no function may carry.',
      { path: subject('document') },
      [
        room('service'),
        packages('zod', 'zod-openapi', 'ajv', 'ajv-formats', '@scalar/fastify-api-reference'),
        types,
        nodeModules('crypto', 'fs', 'fs/promises', 'path', 'url'),
      ],
    ),
    {
      name: 'the-product-knows-no-lab',
      comment: 'What imitates and verifies stands beside the product: nothing of the product imports it.',
      severity: 'error',
      from: { path: room('service', 'functions', 'lib', 'local', 'portal', 'client', 'admin', 'start') },
      to: { path: room('lab') },
    },
    {
      name: 'the-product-knows-no-operator',
      comment: 'The rooms that run for clients know nothing of what operators start.',
      severity: 'error',
      from: { path: room('service', 'functions', 'lib', 'local', 'portal', 'client') },
      to: { path: room('admin', 'start') },
    },
    onlyKnows(
      'the-client-knows-itself',
      'The library runs on every runtime and has no dependency: web standards only, and nothing of the service.',
      { path: '^client/src/' },
      ['^client/src/'],
    ),
    onlyKnows(
      'the-client-package-stands-alone',
      'The package that a client developer installs shares no code with the service. Its command prints as all commands do.',
      { path: room('client'), pathNot: '^client/recipes/' },
      [
        room('client'),
        '^service/contract/request-fields\\.ts$',
        // An example is a program of a customer.
        '^darkroom-client/operator$',
        packages('commander', 'esbuild', 'picocolors', 'terser', 'typescript', '@hey-api/[^/]+'),
        types,
      ],
      { node: true },
    ),
    onlyKnows(
      'a-recipe-is-a-customer',
      'A receiver of a page of the documentation: the public package and one framework.',
      { path: '^client/recipes/' },
      ['^client/(src|dist/src)/webhooks\\.', '^darkroom-client/webhooks$', packages('express', 'hono')],
    ),
    onlyKnows(
      'the-pages-know-the-contract',
      'The pages of the portal run in a browser: of the service they know operations, limits and the form of answers.',
      { path: '^portal/src/' },
      [
        '^portal/src/',
        '^service/contract/(limits|operations|portal-calls|portal-views|request-fields)\\.ts$',
        packages('preact', 'client-zip'),
      ],
    ),
    onlyKnows(
      'the-build-of-the-pages-knows-bundlers',
      'The pages become files for a browser: their sources are named, and not imported.',
      { path: '^portal/build\\.ts$' },
      [packages('esbuild', 'terser'), types],
      { node: true },
    ),
    {
      name: 'the-pages-are-built',
      comment: 'Whoever serves the pages serves what portal/build.ts made of them.',
      severity: 'error',
      from: { pathNot: room('portal', 'test', 'lab') },
      to: { path: '^portal/src/' },
    },
    {
      name: 'the-client-is-a-customer',
      comment: 'Only tests, and what a contributor starts, run the client. The service knows nothing of it.',
      severity: 'error',
      from: { pathNot: room('client', 'test', 'lab', 'bin') },
      to: { path: room('client'), pathNot: '^client/command/terminal/' },
    },
    {
      name: 'start-is-one-machine',
      comment:
        'npm start and npm run demo: the one machine, its demo account and its printed events. Only the package has both.',
      severity: 'error',
      from: { path: room('start'), pathNot: '^start/packaging/' },
      to: { path: room('lib') },
    },
    {
      name: 'bin-is-the-top',
      comment: 'A file of bin is started by a person: no other room imports it.',
      severity: 'error',
      from: { pathNot: room('bin') },
      to: { path: room('bin') },
    },
    {
      name: 'tests-are-not-used',
      comment: 'Nothing that runs depends on a test.',
      severity: 'error',
      from: { pathNot: room('test') },
      to: { path: room('test') },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(cdk\\.out|client/dist|node_modules/\\.cache|lab/browser/package)/' },
    // Type-only imports are bound by the rules as well: they vanish at run time, the knowledge does not.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    // aws-lambda exists as types alone, and as such it is meant.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.tsx', '.d.ts', '.mjs', '.js', '.json'],
    },
    builtInModules: { add: ['sqlite', 'test'] },
  },
};
