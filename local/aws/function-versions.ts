/** Lambda's versions and aliases. A start that finds changed code or configuration publishes the next version. */
import * as z from 'zod';
import { readIfPresent, replaceFile } from '../disk.ts';
import type { LocalAlias } from '../template.ts';
import {
  type AwsOutput,
  type AwsService,
  localAccount,
  localRegion,
  parseInput,
  serviceOf,
} from './aws-call.ts';
import { AwsError } from './aws-error.ts';

const versionSchema = z.object({
  version: z.int().positive(),
  /** The logical id of the version in the template. It changes with the code and the configuration. */
  id: z.string(),
  /** Milliseconds since 1970, of the virtual clock. */
  publishedAt: z.number(),
  /** True after the version was deleted. Lambda never gives its number to another version. */
  deleted: z.boolean().optional(),
});
const fileSchema = z.record(z.string(), z.array(versionSchema));

export interface FunctionVersions {
  /** Gives the number of the version. Publishes the version unless it is the last one already. */
  readonly publish: (functionId: string, versionId: string) => string;
  /** ListVersionsByFunction, ListAliases and DeleteFunction with a Qualifier. */
  readonly serviceFor: (functionIds: readonly string[], aliases: readonly LocalAlias[]) => AwsService;
}

/** Lambda gives at most 50 versions or aliases in one answer, also when more are asked for. */
const mostItems = 50;
const listSchema = z.object({
  FunctionName: z.string().min(1),
  MaxItems: z.coerce.number().int().min(1).max(10_000).default(mostItems),
  Marker: z.string().regex(/^\d+$/).default('0'),
});
// Without a Qualifier, Lambda deletes the function. The stand-in does not.
const deleteSchema = z.object({
  FunctionName: z.string().min(1),
  Qualifier: z.string().regex(/^(\$LATEST|\d+)$/),
});

/** Opens the versions that the file holds. The file is made with the first version. */
export function openFunctionVersions(file: string, now: () => number): FunctionVersions {
  const versions = new Map(Object.entries(fileSchema.parse(JSON.parse(readIfPresent(file) ?? '{}'))));
  const save = (): void => replaceFile(file, JSON.stringify(Object.fromEntries(versions)));
  return {
    publish: (functionId, versionId) => {
      const known = versions.get(functionId) ?? [];
      const last = known.at(-1);
      if (last?.id === versionId) return String(last.version);
      const next = { version: (last?.version ?? 0) + 1, id: versionId, publishedAt: now() };
      versions.set(functionId, [...known, next]);
      save();
      return String(next.version);
    },
    serviceFor: (functionIds, aliases) => {
      const requireFunction = (functionId: string): void => {
        if (!functionIds.includes(functionId)) throw notFound(functionId);
      };
      return serviceOf({
        ListVersionsByFunction: (call) => {
          const { FunctionName, ...page } = parseInput(listSchema, call);
          requireFunction(FunctionName);
          const listed = (versions.get(FunctionName) ?? []).filter(({ deleted }) => deleted !== true);
          const all = [
            describe(FunctionName, '$LATEST', 0),
            ...listed.map((one) => describe(FunctionName, String(one.version), one.publishedAt)),
          ];
          return pageOf('Versions', all, page);
        },
        ListAliases: (call) => {
          const { FunctionName, ...page } = parseInput(listSchema, call);
          requireFunction(FunctionName);
          const own = aliases
            .filter(({ functionId }) => functionId === FunctionName)
            .map(({ name, version }) => ({
              AliasArn: arnOf(`${FunctionName}:${name}`),
              Name: name,
              FunctionVersion: version,
            }));
          return pageOf('Aliases', own, page);
        },
        DeleteFunction: (call) => {
          const { FunctionName, Qualifier } = parseInput(deleteSchema, call);
          requireFunction(FunctionName);
          if (Qualifier === '$LATEST')
            throw new AwsError(
              'InvalidParameterValueException',
              '$LATEST version cannot be deleted without deleting the function.',
            );
          const version = versions.get(FunctionName)?.find((one) => String(one.version) === Qualifier);
          if (version === undefined || version.deleted === true)
            throw notFound(`${FunctionName}:${Qualifier}`);
          const naming = aliases
            .filter((alias) => alias.functionId === FunctionName && alias.version === Qualifier)
            .map(({ name }) => name);
          if (naming.length > 0)
            throw new AwsError(
              'ResourceConflictException',
              `Version ${Qualifier} of ${FunctionName} is used by the aliases ${naming.join(', ')}. Delete or change them first.`,
              { status: 409 },
            );
          version.deleted = true;
          save();
          return {};
        },
      });
    },
  };
}

function pageOf(
  member: string,
  all: readonly AwsOutput[],
  { MaxItems, Marker }: { readonly MaxItems: number; readonly Marker: string },
): AwsOutput {
  const from = Number(Marker);
  const next = from + Math.min(MaxItems, mostItems);
  return { [member]: all.slice(from, next), ...(next < all.length && { NextMarker: String(next) }) };
}

function describe(functionId: string, qualifier: string, publishedAt: number): AwsOutput {
  return {
    FunctionName: functionId,
    FunctionArn: arnOf(`${functionId}:${qualifier}`),
    Version: qualifier,
    // Lambda writes this time with an offset instead of a Z.
    LastModified: new Date(publishedAt).toISOString().replace('Z', '+0000'),
  };
}

function arnOf(name: string): string {
  return `arn:aws:lambda:${localRegion}:${localAccount}:function:${name}`;
}

function notFound(name: string): AwsError {
  return new AwsError('ResourceNotFoundException', `Function not found: ${arnOf(name)}`, { status: 404 });
}
