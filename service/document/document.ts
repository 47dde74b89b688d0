/** The OpenAPI document: what service/contract/operations.ts states, in the words and schemas of this folder. */
import * as z from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { type OperationName, operations } from '../contract/operations.ts';
import { headerComponents } from './headers.ts';
import { description, servers, summary, tags, title } from './introduction.ts';
import { documentation } from './operations.ts';
import { type Documentation, responsesOf, unknownRoute } from './responses.ts';
import { creationId } from './schemas/creation.ts';
import { problem } from './schemas/refusals.ts';
import { webhooks } from './webhooks.ts';

type OpenApiDocument = ReturnType<typeof createDocument>;

export const license = { name: 'Unlicensed', identifier: 'LicenseRef-Unlicensed' } as const;

function openApiDocument(): OpenApiDocument {
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title,
        summary,
        version: 'v1',
        description,
        license,
      },
      servers,
      tags: [...tags],
      security: [{ bearer: [] }, { apiKey: [] }],
      paths: paths(),
      webhooks: webhooks(),
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: '`Authorization: Bearer dk_live_…`, or the token of an end user, `dk_user_…`',
          },
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Key',
            description: 'For clients that cannot send Authorization, which wins over this header.',
          },
        },
        headers: headerComponents,
        responses: { UnknownRoute: unknownRoute },
        // No response refers to the union, because each names its own refusals. It is a type for clients.
        schemas: { Problem: problem },
      },
    },
    // Answers may get more fields, so their objects stay open.
    {
      override: ({ jsonSchema, zodSchema, io }) => {
        const { def } = zodSchema._zod;
        if (io === 'output' && def.type === 'object' && !('catchall' in def && def.catchall))
          delete jsonSchema.additionalProperties;
      },
    },
  );
}

function paths(): ZodOpenApiPathsObject {
  const all: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const name of Object.keys(operations) as OperationName[]) {
    const { method, path } = operations[name];
    all[path] = { ...all[path], [method.toLowerCase()]: operationOf(name, documentation[name]) };
  }
  return all;
}

function operationOf(
  name: OperationName,
  { tag, id = creationId, summary: words, description: text, query, headers, body, answers }: Documentation,
): ZodOpenApiOperationObject {
  return {
    operationId: name,
    tags: [tag],
    summary: words,
    description: text,
    requestParams: {
      ...(operations[name].path.includes('{id}') && { path: z.object({ id }) }),
      ...(Object.keys(query).length > 0 && { query: z.object(query) }),
      ...(headers && { header: z.object(headers) }),
    },
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: body.schema, examples: exampleObjects(body.examples) } },
      },
    }),
    responses: responsesOf(answers),
  };
}

function exampleObjects(values: Readonly<Record<string, object>>): Record<string, { value: object }> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly format?: unknown;
  readonly pattern?: unknown;
}

/**
 * Words a schema as generators of clients read it: a type or null is one schema, unless the type is a component,
 * and a format stands without the pattern that zod adds to it.
 */
export function forGenerators(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { anyOf = [], ...own }: Schema = value;
  const [one, other] = anyOf;
  const isNullable = anyOf.length === 2 && one?.type !== undefined && other?.type === 'null';
  const schema: Schema = isNullable
    ? {
        ...one,
        ...own,
        type: [one.type, 'null'].flat(),
        ...(one.enum && { enum: [...one.enum, null] }),
      }
    : value;
  const { pattern: _ofTheFormat, ...unpatterned } = schema;
  return typeof schema.format === 'string' ? unpatterned : schema;
}

export function documentText(): string {
  return `${JSON.stringify(openApiDocument(), forGenerators, 2)}\n`;
}
