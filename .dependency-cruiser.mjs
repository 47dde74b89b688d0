/**
 * The rules of import: which folder may import which (docs/architecture.md). The comment of each rule says
 * what the rule protects. Paths are matched after resolution. Type-only imports count as well.
 */

/** Everything of a room, by its first folder. */
const room = (...names) => `^(${names.join('|')})/`;
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
    onlyKnows(
      'core-is-pure',
      'The rules: no network, disk, clock, environment or AWS. node:crypto for hash and HMAC only. ipaddr.js only computes.',
      { path: room('core') },
      [room('core'), packages('zod', 'ipaddr\\.js'), nodeModules('crypto')],
    ),
    onlyKnows(
      'adapters-know-core-and-vendors',
      'The outside world: core’s ports, vendors’ packages, Node.',
      { path: room('adapters') },
      [
        room('core', 'adapters'),
        packages('@aws-sdk/[^/]+', '@smithy/node-http-handler', 'aws4fetch', 'jpeg-js', 'oauth4webapi'),
        types,
      ],
      { node: true },
    ),
    onlyKnows(
      'functions-know-core',
      'A handler speaks to ports; what implements them is chosen in functions/services/ alone.',
      { path: room('functions'), pathNot: '^functions/services/' },
      [
        room('core', 'functions'),
        packages('@middy/core', '@modelcontextprotocol/server', 'zod'),
        types,
        nodeModules('crypto'),
      ],
    ),
    onlyKnows(
      'services-compose',
      'The composition root: adapters, the catalog, and the clients that both need.',
      { path: '^functions/services/' },
      [
        room('core', 'adapters', 'catalog'),
        '^functions/services/',
        packages('@aws-sdk/[^/]+', 'aws4fetch'),
        types,
        nodeModules('crypto', 'url'),
      ],
    ),
    onlyKnows(
      'lib-knows-the-contract',
      'Constructs know the tables of core (operations, failures, limits, machines, metrics, renderers) and the catalog; handlers and the state machine only by their paths.',
      { path: room('lib') },
      [
        room('lib', 'catalog'),
        '^core/(contract|failure|limits|machine|metrics|renderer|route-outcome)\\.ts$',
        packages('aws-cdk-lib', 'constructs', 'esbuild', 'zod'),
        nodeModules('fs', 'path', 'url'),
      ],
    ),
    onlyKnows(
      'config-knows-settings',
      'What an operator writes: values, and the type that they have to be of.',
      { path: room('config') },
      ['^lib/settings\\.ts$'],
    ),
    onlyKnows(
      'local-stands-in-for-aws',
      'The one machine runs bundles as AWS does: it sees nothing of functions, adapters or core but the contract.',
      { path: room('local') },
      [
        room('local'),
        '^core/contract\\.ts$',
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
    {
      name: 'admin-leaves-functions-alone',
      comment: 'An operator’s command uses the same adapters as the functions, and never a function.',
      severity: 'error',
      from: { path: room('admin', 'start', 'tools', 'bin') },
      to: { path: room('functions') },
    },
    onlyKnows(
      'admin-knows-adapters',
      'The operator’s command works on the tables and queues of the service. It finds a service of this machine by its record.',
      { path: room('admin') },
      [
        room('admin', 'core', 'adapters', 'catalog', 'terminal'),
        '^local/service-record\\.ts$',
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
    {
      name: 'the-service-knows-no-tool',
      comment: 'The rooms that run for clients know nothing of what operators and contributors start.',
      severity: 'error',
      from: { path: room('core', 'adapters', 'functions', 'lib', 'local', 'catalog', 'config') },
      to: { path: room('admin', 'document', 'simulation', 'start', 'terminal', 'tools') },
    },
    onlyKnows(
      'the-document-knows-core',
      'The OpenAPI document: schemas and words that no function may carry.',
      { path: room('document') },
      [
        room('document', 'core'),
        packages('zod', 'zod-openapi', 'ajv', 'ajv-formats', '@scalar/fastify-api-reference'),
        types,
        nodeModules('crypto', 'fs', 'fs/promises', 'path', 'url'),
      ],
    ),
    onlyKnows(
      'terminal-knows-nobody',
      'Printing to a terminal and reading an option is the same for every command: it knows no other room.',
      { path: room('terminal') },
      [room('terminal'), packages('picocolors'), types],
    ),
    onlyKnows(
      'the-client-knows-itself',
      'The library runs on every runtime and has no dependency: web standards only, and nothing of the service.',
      { path: '^client/src/' },
      ['^client/src/'],
    ),
    onlyKnows(
      'the-client-package-stands-alone',
      'The package that a client developer installs shares no code with the service but the table of request fields. Its command prints as all commands do.',
      { path: room('client'), pathNot: '^client/recipes/' },
      [
        room('client', 'terminal'),
        '^core/request-fields\\.ts$',
        packages('commander', 'esbuild', 'picocolors', 'typescript', '@hey-api/[^/]+'),
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
      'The pages of the portal run in a browser: of the service they know the operations and the form of answers.',
      { path: '^portal/src/' },
      [
        '^portal/src/',
        '^core/(contract|request-fields)\\.ts$',
        '^core/portal/(calls|views)\\.ts$',
        packages('preact'),
      ],
    ),
    onlyKnows(
      'the-build-of-the-pages-knows-esbuild',
      'The pages become files for a browser: their sources are named, and not imported.',
      { path: '^portal/build\\.ts$' },
      [packages('esbuild'), types],
      { node: true },
    ),
    {
      name: 'the-pages-are-built',
      comment: 'Whoever serves the pages serves what portal/build.ts made of them.',
      severity: 'error',
      from: { pathNot: room('portal', 'test', 'tools') },
      to: { path: '^portal/src/' },
    },
    {
      name: 'the-client-is-a-customer',
      comment: 'Only tests, and what a contributor starts, run the client. The service knows nothing of it.',
      severity: 'error',
      from: { pathNot: room('client', 'test', 'tools', 'bin') },
      to: { path: room('client') },
    },
    {
      name: 'start-is-one-machine',
      comment: 'npm start and npm run demo: the one machine, its demo account and its printed events.',
      severity: 'error',
      from: { path: room('start') },
      to: { path: room('simulation', 'tools', 'lib') },
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
    exclude: { path: '^(cdk\\.out|client/dist|node_modules/\\.cache|tools/browser/package)/' },
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
