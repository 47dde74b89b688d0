import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { operations } from '../../core/contract.ts';
import { defaultLimits, heldRequestMillis } from '../../core/limits.ts';
import { bundleOf, nameOf, resolved, resourcesOf, wordOf } from './template.ts';

const functions = resourcesOf('AWS::Lambda::Function').map(([id, { Properties, Metadata }]) => ({
  id,
  name: nameOf(id),
  properties: Properties,
  metadata: Metadata,
}));
const apiNames = [
  ...Object.keys(operations).map((name) => name.charAt(0).toUpperCase() + name.slice(1)),
  'UnknownRoute',
];
const kilobytes = (text: string): number => Buffer.byteLength(text) / 1000;

/**
 * Time limits in seconds. An HTTP API gives up after 30 s, a creation has at most 12 minutes, the reconciler
 * starts every minute, and Lambda allows 15 minutes.
 */
const timeouts: Readonly<Record<string, number>> = {
  RenderImage: 780,
  RenderImageSmall: 780,
  RenderImageLarge: 780,
  RefundCharge: 30,
  DeliverWebhook: 30,
  Reconcile: 55,
  AuditBooks: 900,
  ReceiveCallback: 90,
  PublishPages: 120,
  ProtectTable: 240,
  OpenaiImages: 360,
  Mcp: 90,
};

/** The functions of the portal's API. They have the time limit of the API. */
const portalNames = [
  'PortalSignIn',
  'PortalRead',
  'PortalManage',
  'PortalGenerate',
  'PortalCancel',
  'PortalOperate',
];

/** The functions of the OpenAI-shaped endpoint and of MCP. */
const streamingNames = ['OpenaiImages', 'OpenaiModels', 'Mcp'];

describe('the functions', () => {
  it('There is one function for each operation, one for unknown routes, three renderers, two further tasks, the function of callbacks, the reconciler, the audit, six of the portal, one that publishes its pages, one that protects the table, two of the OpenAI-shaped endpoint, and one of MCP', () => {
    expect(functions.map(({ name }) => name).sort()).toEqual(
      [...new Set([...apiNames, ...portalNames, ...streamingNames, ...Object.keys(timeouts)])].sort(),
    );
  });

  it.each(functions)(
    'The function $name runs on Node 24 and arm64, and has its time limit',
    ({ name, properties }) => {
      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Timeout: timeouts[name] ?? 29,
      });
    },
  );

  it.each(functions)(
    'The function $name writes plain lines to its own log group, which keeps them for 30 days',
    ({ name, properties }) => {
      expect(properties['LoggingConfig']).toMatchObject({ LogFormat: 'Text' });
      const { LogGroup } = properties['LoggingConfig'] as { LogGroup: { Ref: string } };
      expect(nameOf(LogGroup.Ref)).toBe(`${name}Log`);
      const group = resourcesOf('AWS::Logs::LogGroup').find(([id]) => id === LogGroup.Ref);
      expect(group?.[1]).toMatchObject({ DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' });
      expect(group?.[1].Properties).toEqual({ RetentionInDays: 30 });
    },
  );

  it('No function has concurrency of its own by default, because a new account may have none to reserve', () => {
    const reserved = functions.flatMap(({ name, properties: { ReservedConcurrentExecutions: most } }) =>
      most === undefined ? [] : [[name, most]],
    );
    expect(Object.fromEntries(reserved)).toEqual({});
  });

  it('A function that holds a request outlives the request, and API Gateway waits for the function', () => {
    const images = functions.find(({ name }) => name === 'OpenaiImages');
    expect(Number(images?.properties['Timeout']) * 1_000).toBeGreaterThan(heldRequestMillis);
    for (const { routes } of resolved.restApis)
      for (const { functionId, timeoutMillis } of routes) {
        const fn = functions.find(({ id }) => id === functionId);
        expect(timeoutMillis).toBe((Number(fn?.properties['Timeout']) + 5) * 1_000);
        // AWS allows a stream of 15 minutes.
        expect(timeoutMillis).toBeLessThanOrEqual(900_000);
      }
  });

  it.each(functions)('The function $name has a description', ({ properties }) => {
    expect(String(properties['Description']).length).toBeGreaterThan(10);
  });

  const own = { METRICS_NAMESPACE: 'Darkroom', URL_SUFFIX: '@AWS::URLSuffix' };
  const everywhere = { ...own, TABLE_NAME: '@StoreTable' };
  const resultsUrl = { RESULTS_BASE_URL: 'https://@ImagesDistribution' };
  const sandbox = { SANDBOX: 'marked' };
  const api = { ...everywhere, ...resultsUrl, ...sandbox, AUTH_FAILURE_FORM: 'envelope' };
  const notices = {
    NOTICE_MACHINE_ARN: `arn:@AWS::Partition:states:@AWS::Region:@AWS::AccountId:stateMachine:Darkroom-notices`,
  };
  const machine = {
    STATE_MACHINE_ARN: '@CreationStateMachine',
    CALLBACK_MACHINE_ARN: '@CreationCallbackMachine',
    ...notices,
  };
  const bucket = { IMAGES_BUCKET: '@ImagesBucket' };
  const finisher = {
    ...everywhere,
    ...bucket,
    RESULT_DAYS: '30',
    PROVIDER_SECRET_ARN: '@ProvidersCredentials',
    PROVIDER_BASE_URLS: '{}',
  };
  const restApis = 'execute-api.@AWS::Region.@AWS::URLSuffix';
  const portalUrl = 'https://@PortalFrontDistribution/';
  const apiUrl = { API_URL: '@ApiHttpApi/api/public/v1' };
  const portal = {
    ...everywhere,
    ...resultsUrl,
    ...apiUrl,
    ...sandbox,
    PORTAL_URL: portalUrl,
    ORIGIN_SECRET_ARN: '@PortalOriginSecret',
    PORTAL_SETTINGS: expect.stringMatching(
      /^\{"emails_are_verified":false,"has_auth_time":true,"payment_url":null,"contact":null,"credentials_url":"https:\/\/darkroom-@AWS::AccountId\.auth\.@AWS::Region\.amazoncognito\.com\/passkeys\/add\?.*","inbox_url":null\}$/,
    ) as string,
  };
  const encryption = { ENCRYPTION_SECRET_ARN: '@EncryptionSecret' };
  const userPool = { USER_POOL_ID: '@PortalIdentityUserPool' };
  const outbound = { OUTBOUND_RULES: 'public' };
  const capacity = { SERVICE_CAPACITY: '2000' };
  const topUp = { TOP_UP_URL: `${portalUrl}wallet` };
  const aliases = {
    OPENAI_ALIASES:
      '{"dall-e-2":"gpt-image-2","dall-e-3":"gpt-image-2","gpt-image-1":"gpt-image-2","gpt-image-1-mini":"gpt-image-2","gpt-image-1.5":"gpt-image-2","chatgpt-image-latest":"gpt-image-2"}',
  };
  const renderer = {
    ...finisher,
    BEDROCK_REGION: 'us-west-2',
    CALLBACK_BASE_URL: '@ApiHttpApi',
  };
  /** Megabytes, description and environment of each function; @ stands before a resource of the stack. */
  const settings: Readonly<Record<string, readonly [number, string, Readonly<Record<string, string>>]>> = {
    RenderImage: [1_024, 'Renders the image of a creation and completes it', renderer],
    RenderImageSmall: [256, 'Renders a 1K image without source images, and completes it', renderer],
    RenderImageLarge: [576, 'Renders a larger image without source images, and completes it', renderer],
    ReceiveCallback: [576, 'Takes the callback of a vendor whose job has ended', finisher],
    RefundCharge: [512, 'Fails a creation and gives its charge back', everywhere],
    DeliverWebhook: [
      256,
      'Sends one attempt of a webhook or a notice',
      {
        ...everywhere,
        ...notices,
        ...resultsUrl,
        OUTBOUND_RULES: 'public',
        ENCRYPTION_SECRET_ARN: '@EncryptionSecret',
      },
    ],
    ListModels: [1_024, 'Answers GET /models', api],
    GenerateImage: [
      1_024,
      'Answers POST /images/generate',
      { ...api, ...bucket, ...machine, ...outbound, ...topUp, ...capacity, HELD_LIMIT: '25' },
    ],
    QuoteImage: [1_024, 'Answers POST /images/quote', { ...api, OUTBOUND_RULES: 'public' }],
    CreateUpload: [1_024, 'Answers POST /uploads', { ...api, ...bucket }],
    ListCreations: [1_024, 'Answers GET /creations', api],
    ListEvents: [256, 'Answers GET /events', api],
    GetBalance: [1_024, 'Answers GET /balance', api],
    GetCreation: [1_024, 'Answers GET /creations/{id}', api],
    CancelCreation: [
      1_024,
      'Answers POST /creations/{id}/cancel',
      { ...api, PROVIDER_SECRET_ARN: '@ProvidersCredentials', PROVIDER_BASE_URLS: '{}' },
    ],
    UnknownRoute: [1_024, 'Answers what no route takes', api],
    Reconcile: [
      1_024,
      'Starts what was charged and never started, restarts what died, refunds what is late',
      { ...everywhere, ...machine, STARTS_PER_SECOND: '150' },
    ],
    PortalSignIn: [
      1_024,
      'Signs people of the portal in and out',
      {
        ...portal,
        ...encryption,
        PORTAL_ISSUER: '@PortalIdentityUserPool',
        PORTAL_CLIENT_ID: '@PortalIdentityUserPoolClient',
        SIGN_IN_SECRET_ARN: '@PortalIdentityClientSecret',
      },
    ],
    PortalRead: [
      1_024,
      'Answers what the portal shows of an account',
      {
        ...portal,
        ...capacity,
        OPENAI_URL: `https://@StreamsOpenaiRestApi.${restApis}/@StreamsOpenaiRestApiDeploymentStageopenai/v1`,
        MCP_URL: `https://@StreamsMcpRestApi.${restApis}/@StreamsMcpRestApiDeploymentStagemcp`,
      },
    ],
    PortalManage: [
      1_024,
      'Changes keys, webhooks, alerts and people for the portal',
      { ...portal, ...encryption, ...machine, ...outbound, ...userPool },
    ],
    PortalGenerate: [
      1_024,
      'Answers the playground of the portal',
      { ...portal, ...bucket, ...machine, ...outbound, ...topUp, ...capacity },
    ],
    PortalCancel: [
      1_024,
      'Cancels creations for the portal',
      { ...portal, PROVIDER_SECRET_ARN: '@ProvidersCredentials', PROVIDER_BASE_URLS: '{}' },
    ],
    PortalOperate: [
      1_024,
      'Answers the operator’s part of the portal',
      { ...portal, ...notices, ...userPool, DEFAULT_LIMITS: JSON.stringify(defaultLimits) },
    ],
    OpenaiImages: [
      512,
      'Answers the OpenAI-shaped requests for images, once the images are there',
      {
        ...api,
        ...bucket,
        ...machine,
        ...outbound,
        ...topUp,
        ...capacity,
        ...aliases,
        HELD_LIMIT: '25',
      },
    ],
    OpenaiModels: [1_024, 'Answers the other OpenAI-shaped requests', { ...api, ...aliases }],
    Mcp: [
      1_024,
      'Answers agents that speak MCP',
      {
        ...api,
        ...bucket,
        ...machine,
        ...outbound,
        ...topUp,
        ...capacity,
        HELD_LIMIT: '25',
        PROVIDER_SECRET_ARN: '@ProvidersCredentials',
        PROVIDER_BASE_URLS: '{}',
      },
    ],
    PublishPages: [
      256,
      'Puts the pages of a release into the bucket of the portal',
      {
        ...own,
        PAGES_BUCKET: '@PortalPagesBucket',
        PORTAL_URL: portalUrl,
        ...apiUrl,
      },
    ],
    ProtectTable: [256, 'Protects the table from deletion when a deployment has succeeded', own],
    AuditBooks: [1_024, 'Holds every balance and creation against the ledger', everywhere],
  };

  it.each(functions)(
    'The function $name has its memory, its description and its environment',
    ({ name, properties }) => {
      const { Variables } = properties['Environment'] as { Variables: Record<string, unknown> };
      const environment = Object.entries(Variables).map(([variable, value]) => [variable, wordOf(value)]);
      const [megabytes, description, expected] = settings[name] ?? [];
      expect([properties['MemorySize'], properties['Description']]).toEqual([megabytes, description]);
      expect(Object.fromEntries(environment)).toEqual(expected);
      expect(properties['Handler']).toBe('index.handler');
    },
  );

  it('The functions are found by `sam local invoke` under their names', () => {
    for (const { name, metadata } of functions) expect(metadata).toMatchObject({ SamResourceId: name });
  });

  it('The functions have log groups that all expire', () => {
    for (const [, { Properties }] of resourcesOf('AWS::Logs::LogGroup'))
      expect(Properties['RetentionInDays']).toBeGreaterThan(0);
  });

  it('A function has the public outbound rules if and only if it judges addresses of clients', () => {
    const bound = functions.filter(({ properties }) =>
      JSON.stringify(properties['Environment'] ?? {}).includes('OUTBOUND_RULES'),
    );
    expect(bound.map(({ name }) => name).sort()).toEqual([
      'DeliverWebhook',
      'GenerateImage',
      'Mcp',
      'OpenaiImages',
      'PortalGenerate',
      'PortalManage',
      'QuoteImage',
    ]);
    for (const { properties } of bound)
      expect(properties).toMatchObject({ Environment: { Variables: { OUTBOUND_RULES: 'public' } } });
  });
});

describe('the bundle', () => {
  const bundles = resolved.functions.map((fn) => ({ name: nameOf(fn.id), ...bundleOf(fn) }));

  it.each(bundles)('The bundle of $name is small enough to start fast', ({ name, text }) => {
    const limit = { Mcp: 750, ProtectTable: 110, PublishPages: 110 }[name] ?? 350;
    expect(kilobytes(text)).toBeLessThanOrEqual(name.startsWith('RenderImage') ? 450 : limit);
  });

  it('The bundle that publishes pages has the pages and the reference beside its code', () => {
    const { folder } = bundles.find(({ name }) => name === 'PublishPages') ?? { folder: '' };
    expect(readdirSync(folder).sort()).toEqual(['index.mjs', 'pages']);
    const files = readdirSync(join(folder, 'pages')).map((file) => file.replace(/-[0-9a-f]{10}\./, '-HASH.'));
    expect(files.sort()).toEqual([
      'app-HASH.css',
      'app-HASH.js',
      'favicon.svg',
      'index.html',
      'openapi.json',
      'reference-HASH.js',
      'reference.html',
      'scalar-HASH.js',
    ]);
  });

  it.each(bundles)(
    'The bundle of $name is minified and contains only JavaScript',
    ({ name, folder, text }) => {
      const onDemand = name.startsWith('RenderImage') ? ['bedrock.mjs'] : [];
      if (name !== 'PublishPages')
        expect(readdirSync(folder, { recursive: true }).sort()).toEqual([...onDemand, 'index.mjs']);
      // Compared as a boolean, so that a failure does not print the whole bundle.
      expect(/\.node['"]\)|process\.dlopen|node-gyp|prebuild-install/.test(text)).toBe(false);
      expect(text.split('\n').length).toBeLessThan(text.length / 200);
    },
  );

  it('A renderer loads the adapter of Amazon Bedrock from a file of its own, which is whole', async () => {
    const { folder, text } = bundles.find(({ name }) => name === 'RenderImage') ?? { folder: '', text: '' };
    expect(text).toContain('import("./bedrock.mjs")');
    expect(text).not.toContain('bedrock-runtime');
    const file = join(folder, 'bedrock.mjs');
    expect(kilobytes(readFileSync(file, 'utf8'))).toBeLessThanOrEqual(260);
    const loaded = (await import(pathToFileURL(file).href)) as { createBedrock: (of: object) => object };
    expect(loaded.createBedrock({ name: 'bedrock', region: 'us-west-2' })).toMatchObject({ name: 'bedrock' });
  });

  it.each(bundles)('The bundle of $name imports only modules of Node', ({ text }) => {
    const imported = [...text.matchAll(/(?:^|[;}])import(?:[\w$*{},\s]*from)?\s?"([^"]+)"/gm)].map(
      ([, module]) => module,
    );
    expect(imported.length).toBeGreaterThan(0);
    expect(imported.filter((module) => !isBuiltin(module ?? ''))).toEqual([]);
  });

  it.each(bundles)(
    'The bundle of $name imports none of the modules of Node that load many others',
    ({ text }) => {
      expect(/(?:from|import)\s?\(?"(?:node:)?(?:crypto|https?|process)"/.test(text)).toBe(false);
    },
  );

  it('Only the bundles of the renderers contain the sandbox provider, and they are one bundle', () => {
    const painting = bundles.filter(({ text }) => text.includes('reject-prompt'));
    expect(painting.map(({ name }) => name).sort()).toEqual([
      'RenderImage',
      'RenderImageLarge',
      'RenderImageSmall',
    ]);
    expect(new Set(painting.map(({ folder }) => folder)).size).toBe(1);
  });
});
