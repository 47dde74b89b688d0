/** The settings of the OpenAI-shaped endpoint and of MCP. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { openaiModelNames } from '../../service/contract/operations.ts';
import { oneOf, reservation } from '../setting-values.ts';

const catalogFile = new URL('../../service/catalog/models.json', import.meta.url);
const catalogSchema = z.object({ models: z.array(z.object({ id: z.string() })) });

/**
 * Whether the catalog has the model. The file is read only now: an import would fail, before anybody has checked
 * the file and can say what is wrong with it.
 */
function isInCatalog(id: string): boolean {
  const { models } = catalogSchema.parse(JSON.parse(readFileSync(catalogFile, 'utf8')));
  return models.some((model) => model.id === id);
}

const model = z
  .string({ error: 'must be the id of a model in the catalog' })
  .refine(isInCatalog, { error: 'must be the id of a model in the catalog' });

/** Lambda takes 4 KB of environment, and the names are a part of it. */
const mostAliases = 20;

const aliases = z
  .record(
    z.string().regex(/^[\w.:/-]{1,64}$/, {
      error: 'must be names of at most 64 letters, digits and ._:/-',
    }),
    model,
    { error: 'must be an object of names, each with the id of a model in the catalog' },
  )
  .refine((given) => Object.keys(given).length <= mostAliases, {
    error: `must be at most ${mostAliases} names`,
  })
  .refine((given) => Object.keys(given).every((name) => !isInCatalog(name)), {
    error: 'must be other names than those of the catalog',
  });

/** The settings of the OpenAI-shaped endpoint. */
export const openaiSettings = z
  .strictObject(
    {
      /** The model behind the names of OpenAI's own models. */
      defaultModel: model.default('gpt-image-2'),
      /** Further names, and other models for the names of OpenAI's. */
      aliases: aliases.default({}),
    },
    { error: 'must be {defaultModel, aliases}' },
  )
  .prefault({});

/** The value of OPENAI_ALIASES: every name that is not in the catalog, with its model. */
export function openaiAliases({ defaultModel, aliases: own }: z.output<typeof openaiSettings>): string {
  const builtIn = Object.fromEntries(openaiModelNames.map((name) => [name, defaultModel]));
  return JSON.stringify({ ...builtIn, ...own });
}

/**
 * The requests that are held at once, by the function that holds them. Nothing is reserved by default: a new account
 * of AWS may have too few executions for any reservation, and then refuses the first deployment.
 */
export const heldRequests = z
  .strictObject(
    { images: reservation().default('shared'), mcp: reservation().default('shared') },
    { error: 'must be {images, mcp}' },
  )
  .prefault({});

export const gatewayLogRole = oneOf(['create', 'existing']).default('create');
