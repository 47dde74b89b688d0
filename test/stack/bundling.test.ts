/** A bundle holds a class of the AWS SDK only for errors whose class the service asks for. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { buildSync, transformSync } from 'esbuild';
import fc from 'fast-check';
import type { Catalog } from '../../service/catalog/catalog-schema.ts';
import { mergeCatalog } from '../../service/catalog/operator-catalog.ts';
import { bundleText } from '../../lib/bundling/bundle-text.ts';
import {
  withoutAdaptiveRetries,
  withoutEventsAndEc2,
  withoutUnaskedErrors,
  withoutPackageFiles,
  withoutRegionNames,
} from '../../lib/bundling/unread-sdk.ts';
import { packed, withPackedJson } from '../../lib/bundling/packed-json.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Checks one class by instanceof, and returns what the SDK throws for an error of DynamoDB. */
const entry = `
  import { ConditionalCheckFailedException, DynamoDBClient, DynamoDBServiceException, GetItemCommand } from '@aws-sdk/client-dynamodb';
  export async function thrownFor(name, status) {
    const requestHandler = {
      handle: async () => ({ response: {
        statusCode: status,
        headers: { 'content-type': 'application/x-amz-json-1.0' },
        body: new Blob([JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#' + name, message: 'why' })]).stream(),
      } }),
    };
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    const client = new DynamoDBClient({ region: 'us-east-1', credentials, requestHandler, maxAttempts: 1 });
    try {
      await client.send(new GetItemCommand({ TableName: 't', Key: { pk: { S: 'a' } } }));
    } catch (error) {
      return {
        name: error.name,
        message: error.message,
        status: error.$metadata.httpStatusCode,
        fault: error.$fault,
        isKnown: error instanceof DynamoDBServiceException,
        isAsked: error instanceof ConditionalCheckFailedException,
      };
    }
  }
`;

interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly status: number;
  readonly fault: string;
  readonly isKnown: boolean;
  readonly isAsked: boolean;
}

describe('a bundle without the classes of errors that nobody asks for', () => {
  const slim = bundleText({ stdin: { contents: entry, resolveDir: root } }, false);

  it('An error without a class has its name, its status and the base class of its client', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'darkroom-errors-'));
    try {
      writeFileSync(join(folder, 'index.mjs'), slim);
      const { thrownFor } = (await import(pathToFileURL(join(folder, 'index.mjs')).href)) as {
        thrownFor: (name: string, status: number) => Promise<Thrown>;
      };
      const base = { message: 'why', isKnown: true, isAsked: false };
      for (const [name, status, fault] of [
        ['ThrottlingException', 400, 'client'],
        ['ResourceNotFoundException', 400, 'client'],
        ['InternalServerError', 500, 'server'],
      ] as const)
        expect(await thrownFor(name, status)).toEqual({ ...base, name, status, fault });
      const asked = await thrownFor('ConditionalCheckFailedException', 400);
      expect(asked).toMatchObject({ name: 'ConditionalCheckFailedException', isKnown: true, isAsked: true });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('The classes that are left are those that are asked for and those that the SDK marks as passing', () => {
    // Texts of 200 KB must not be in the message of a failure.
    const names = ['BackupInUseException', 'ReplicatedWriteConflictException'];
    expect(names.map((name) => slim.includes(`name="${name}"`))).toEqual([false, true]);
    // The base class, the class that is asked for, and the passing one.
    expect([...slim.matchAll(/\.registerError\(/g)]).toHaveLength(3);
  });

  it('A client that registers no error is refused, because its form is no longer the one that is known', () => {
    const client = ['node_modules/@aws-sdk/client-sfn/dist-es/models/errors.js'];
    expect(() => withoutUnaskedErrors('x', client)).toThrow('the bundle registers no error of the AWS SDK');
    expect(withoutUnaskedErrors('x', ['service/creations/refund-creation.ts'])).toBe('x');
  });
});

const file = 'node_modules/@aws-sdk/client-sfn/package.json';

const json = readFileSync(`${root}/${file}`, 'utf8');

function bundled(): string {
  const contents = `import info from './${file}'; console.log(info.version);`;
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    target: 'node24',
    format: 'esm',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** A bundle holds the version of each client of the AWS SDK, and nothing else of the client's package.json. */
describe('a bundle with a client of the AWS SDK', () => {
  it('The bundle keeps the version and drops the rest of the package file', () => {
    const text = bundled();
    expect(text).toContain('typesVersions');
    const slim = withoutPackageFiles(text, [file], root);
    expect(slim).not.toContain('typesVersions');
    expect(slim).toMatch(/^var (\w+)=\{version:"\d+\.\d+\.\d+"\};console\.log\(\1\.version\);\n$/);
    expect(slim).toContain(/"version": "([^"]+)"/.exec(json)?.[1]);
  });

  it('Other package files and other inputs stay as they are', () => {
    const text = bundled();
    const inputs = ['node_modules/zod/package.json', 'service/creations/refund-creation.ts'];
    expect(withoutPackageFiles(text, inputs, root)).toBe(text);
  });

  it('A package file that is not in the text as esbuild prints it is an error', () => {
    expect(() => withoutPackageFiles('x', [file], root)).toThrow(`${file} is not once in the bundle`);
  });
});

/** A bundle knows the regions of AWS, and no description of a region. */
describe('the regions in a bundle', () => {
  it('A bundle with a client of the AWS SDK has every region and no description', () => {
    const contents = `export { DynamoDBClient } from '@aws-sdk/client-dynamodb';`;
    const text = bundleText({ stdin: { contents, resolveDir: import.meta.dirname } }, false);
    expect(text).toContain('"us-east-2":{}');
    expect(text).not.toContain('US East (Ohio)');
  });

  it('A list of regions in another form is refused', () => {
    const partitions = [
      'node_modules/@aws-sdk/core/dist-es/submodules/client/util-endpoints/lib/aws/partitions.js',
    ];
    expect(() => withoutRegionNames('x', partitions)).toThrow('the AWS SDK describes no region');
    expect(withoutRegionNames('x', ['service/creations/refund-creation.ts'])).toBe('x');
  });
});

describe('the retries in a bundle', () => {
  it('A bundle with a client of the AWS SDK retries in the standard mode alone', () => {
    const contents = `export { SFNClient } from '@aws-sdk/client-sfn';`;
    const text = bundleText({ stdin: { contents, resolveDir: import.meta.dirname } }, false);
    // The first is a word of the standard strategy, the second one of the rate limiter of the adaptive strategy.
    expect(['retryBackoffStrategy', 'lastThrottleTime'].map((word) => text.includes(word))).toEqual([
      true,
      false,
    ]);
  });

  it('Signed events and the region of EC2 in another form are refused', () => {
    const file = 'node_modules/@smithy/signature-v4/dist-es/SignatureV4.js';
    const made = 'class A {\n  headerFormatter = new HeaderFormatter();\n}';
    expect(withoutEventsAndEc2(made, [file])).toBe('class A {\n  \n}');
    expect(() => withoutEventsAndEc2('x', [file])).toThrow('does not make "headerFormatter');
    expect(withoutEventsAndEc2('x', ['service/creations/refund-creation.ts'])).toBe('x');
  });

  it('An adaptive mode in another form is refused', () => {
    const strategy = 'node_modules/@smithy/core/dist-es/submodules/retry/util-retry/AdaptiveRetryStrategy.js';
    expect(() => withoutAdaptiveRetries('x', [strategy])).toThrow('the AWS SDK has no adaptive retries');
    expect(withoutAdaptiveRetries('x', ['service/creations/refund-creation.ts'])).toBe('x');
  });
});

const unpacked = (expression: string): unknown => JSON.parse(JSON.stringify(runInNewContext(expression)));

describe('the short form of a JSON file', () => {
  it.each(['service/catalog/models.json', 'service/catalog/provider-costs.json'])(
    '%s is unpacked to the same value, from a third of its bytes',
    (file) => {
      const json = readFileSync(`${root}${file}`, 'utf8');
      expect(unpacked(packed(json))).toEqual(JSON.parse(json));
      expect(Buffer.byteLength(packed(json))).toBeLessThan(JSON.stringify(JSON.parse(json)).length / 3);
    },
  );

  it('every JSON value comes back, or its text is refused', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'b', "'", '"', '\\', '\n', '9', ' ', '{', '`', 'é'),
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(letters, fc.integer()), { maxLength: 8 }), (value) => {
        const text = JSON.stringify([value, value, value]);
        if (/[`é]/.test(text)) expect(() => packed(text)).toThrow('a packed file is ASCII');
        else expect(unpacked(packed(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 60 },
    );
  });

  it('a text with a character that stands for a rule is refused', () => {
    expect(() => packed('{"name":"50 ~ 60"}')).toThrow('a packed file is ASCII and has none of');
    expect(() => packed('{"name":"Ā"}')).toThrow('a packed file is ASCII');
  });

  it('the costs in a bundle have no sources, which no function reads', () => {
    const json = readFileSync(`${root}service/catalog/provider-costs.json`, 'utf8');
    const minified = transformSync(`x=${json}`, { minify: true, target: 'node24' })
      .code.trim()
      .replace(/;$/, '');
    const text = withPackedJson(minified, ['service/catalog/provider-costs.json'], root);
    const { costs } = unpacked(text.slice('x='.length)) as { costs: unknown[] };
    const all = JSON.parse(json) as { costs: { source?: string; checked_at?: string }[] };
    expect(costs).toEqual(all.costs.map(({ source: _source, checked_at: _day, ...rest }) => rest));
  });

  it('only a bundle that shows models holds their descriptions and names', () => {
    const file = 'service/catalog/models.json';
    const json = readFileSync(`${root}${file}`, 'utf8');
    const minified = transformSync(`x=${json}`, { minify: true, target: 'node24' })
      .code.trim()
      .replace(/;$/, '');
    const modelsIn = (...inputs: string[]) =>
      (unpacked(withPackedJson(minified, [file, ...inputs], root).slice('x='.length)) as { models: object[] })
        .models;
    const all = (JSON.parse(json) as { models: { description: string; name: string }[] }).models;
    expect(modelsIn('service/api/list-models.ts')).toEqual(all);
    expect(modelsIn('service/portal/model-view.ts')).toEqual(all);
    expect(modelsIn('service/operator/figures.ts')).toEqual(
      all.map((model) => ({ ...model, description: '' })),
    );
    expect(modelsIn('service/generate/plan.ts')).toEqual(
      all.map((model) => ({ ...model, description: '', name: '' })),
    );
  });

  it('the models of any bundle stay whole beside a catalog of the operator', () => {
    const file = 'service/catalog/models.json';
    const json = readFileSync(`${root}${file}`, 'utf8');
    const minified = transformSync(`x=${json}`, { minify: true, target: 'node24' })
      .code.trim()
      .replace(/;$/, '');
    const ours = unpacked(withPackedJson(minified, [file], root).slice('x='.length)) as Catalog;
    const { models } = mergeCatalog(ours, { models: {}, revision: '1-a' });
    expect(models.map(({ id }) => id)).toEqual(
      (JSON.parse(json) as { models: { id: string }[] }).models.map(({ id }) => id),
    );
  });

  it('a bundle in which the file does not stand as a literal is refused', () => {
    expect(() => withPackedJson('var x={}', ['service/catalog/models.json'], root)).toThrow(
      'is not once in the bundle',
    );
    expect(withPackedJson('var x={}', ['service/catalog/catalog.ts'], root)).toBe('var x={}');
  });
});
