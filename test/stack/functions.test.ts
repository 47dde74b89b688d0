import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { functionOf, operations } from '../../service/contract/operations.ts';
import { heldRequestMillis } from '../../service/contract/limits.ts';
import type * as thumbnailsModule from '../../service/render/thumbnails/make.ts';
import { readKinds } from '../render/small-pictures.ts';
import { bundleOf, nameOf, resolved, resourcesOf } from './template.ts';

const functions = resourcesOf('AWS::Lambda::Function').map(([id, { Properties, Metadata }]) => ({
  id,
  name: nameOf(id),
  properties: Properties,
  metadata: Metadata,
}));
const apiNames = [...Object.values(operations).map(functionOf), 'UnknownRoute'];
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
  EraseContent: 600,
  ReceiveCallback: 90,
  PublishPages: 120,
  ProtectTable: 240,
  OpenaiImages: 360,
  Mcp: 90,
  ReceivePayment: 29,
  FollowPayments: 300,
};

/** The functions of the portal's API. They have the time limit of the API. */
const portalNames = ['SignIn', 'Read', 'Manage', 'Generate', 'Cancel', 'Pay', 'Operate'].map(
  (name) => `Portal${name}`,
);

/** The functions that know the key of Stripe. */
const paymentNames = ['FollowPayments', 'PortalPay', 'ReceivePayment'];

/** The functions of the OpenAI-shaped endpoint and of MCP. */
const streamingNames = ['OpenaiImages', 'OpenaiModels', 'Mcp'];

describe('the functions', () => {
  it('There is one function for each operation, one for unknown routes, three renderers, two further tasks, the function of callbacks, the reconciler, the audit, one that ends erasures, seven of the portal, two further ones of payments, one of the operator API, one that publishes its pages, one that protects the table, two of the OpenAI-shaped endpoint, and one of MCP', () => {
    expect(functions.map(({ name }) => name).sort()).toEqual(
      [
        ...new Set([...apiNames, ...portalNames, ...streamingNames, 'OperatorApi', ...Object.keys(timeouts)]),
      ].sort(),
    );
  });

  it.each(functions)(
    'The function $name runs on Node 24 and arm64, and has its time limit and a description',
    ({ name, properties }) => {
      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Timeout: timeouts[name] ?? 29,
        Description: expect.stringMatching(/.{11}/) as string,
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

  it('The functions are found by `sam local invoke` under their names', () => {
    for (const { name, metadata } of functions) expect(metadata).toMatchObject({ SamResourceId: name });
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
      'OperatorApi',
      'PortalGenerate',
      'PortalManage',
      'QuoteImage',
      // These deliver webhooks.
      'ReceiveCallback',
      'RenderImage',
      'RenderImageLarge',
      'RenderImageSmall',
      'UserTokens',
      'WebhookEndpoints',
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

  it('Only the bundles of the three functions of payments name Stripe', () => {
    const naming = bundles.filter(({ text }) => text.includes('api.stripe.com')).map(({ name }) => name);
    expect(naming.sort()).toEqual(paymentNames);
  });

  it('The bundle that publishes pages has the pages and the reference beside its code', () => {
    const { folder } = bundles.find(({ name }) => name === 'PublishPages') ?? { folder: '' };
    expect(readdirSync(folder).sort()).toEqual(['index.mjs', 'pages']);
    const files = readdirSync(join(folder, 'pages')).map((file) => file.replace(/-[0-9a-f]{10}\./, '-HASH.'));
    expect(files.sort()).toEqual([
      'app-HASH.css',
      'app-HASH.js',
      'client',
      'favicon.svg',
      'index.html',
      'openapi.json',
      'operator-HASH.js',
      'operator-openapi.json',
      'payments-HASH.js',
      'reference-HASH.js',
      'reference-operator.html',
      'reference.html',
      'scalar-HASH.js',
    ]);
  });

  const makesAddresses =
    /^(DeliverWebhook|G(enerateImage|etCreation)|List(Creations|Events)|Mcp|OpenaiImages|PortalRead|ReceiveCallback|RenderImage.*|WebhookEndpoints)$/;
  it.each(bundles)(
    'The bundle of $name is minified and contains only JavaScript, and codecs where pictures are stored',
    ({ name, folder, text }) => {
      const onDemand = [
        ...(name.startsWith('RenderImage') ? ['bedrock.mjs'] : []),
        ...(makesAddresses.test(name) ? ['result-signer.mjs'] : []),
        ...(/^(GenerateImage|Mcp|OpenaiImages|PortalGenerate)$/.test(name) ? ['mask-problem.mjs'] : []),
        ...(name.startsWith('RenderImage') || name === 'ReceiveCallback'
          ? [
              'mask.mjs',
              'pixels.mjs',
              'thumbnails.mjs',
              'jpeg-turbo.wasm',
              'webp_enc_simd.wasm',
              'webp.mjs',
              'webp_dec.wasm',
            ]
          : []),
      ];
      if (name !== 'PublishPages')
        expect(readdirSync(folder, { recursive: true }).sort()).toEqual([...onDemand, 'index.mjs'].sort());
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

  it('What stores pictures makes their thumbnails by files of their own, also of a JPEG and of a WebP', async () => {
    const { folder, text } = bundles.find(({ name }) => name === 'ReceiveCallback') ?? {
      folder: '',
      text: '',
    };
    expect(text).toContain('import("./thumbnails.mjs")');
    for (const name of ['thumbnails.mjs', 'webp.mjs'])
      expect(kilobytes(readFileSync(join(folder, name), 'utf8'))).toBeLessThanOrEqual(40);
    const file = join(folder, 'thumbnails.mjs');
    const { makeThumbnails } = (await import(pathToFileURL(file).href)) as typeof thumbnailsModule;
    const limits = { signal: new AbortController().signal, mostBytes: 10_000_000 };
    for (const picture of Object.values(readKinds)) {
      const made = await makeThumbnails(Buffer.from(picture, 'base64'), limits);
      expect(made).toMatchObject({ large: { width: 160, height: 96 } });
    }
  });

  it.each(bundles)(
    'The bundle of $name imports only modules of Node, and none of those that load many others',
    ({ text }) => {
      const imported = [...text.matchAll(/(?:^|[;}])import(?:[\w$*{},\s]*from)?\s?"([^"]+)"/gm)].map(
        ([, module]) => module,
      );
      expect(imported.length).toBeGreaterThan(0);
      expect(imported.filter((module) => !isBuiltin(module ?? ''))).toEqual([]);
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
