/**
 * The stand-in of Lambda's versions and aliases. A start of the service is a deployment: a function whose code
 * or configuration has changed since its last version gets the next one. Only the last version runs here.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { hasErrorCode } from '../disk-errors.ts';
import type { LocalAlias } from '../template.ts';
import {
  type AwsCall,
  type AwsOutput,
  type AwsService,
  localAccount,
  localRegion,
  parseInput,
  unknownOperation,
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

type Version = z.output<typeof versionSchema>;

export interface FunctionVersions {
  /** Gives the number of the version. Publishes the version unless it is the last one already. */
  readonly publish: (functionId: string, versionId: string) => string;
  /** ListVersionsByFunction, ListAliases and DeleteFunction with a Qualifier. */
  readonly serviceFor: (functionIds: readonly string[], aliases: readonly LocalAlias[]) => AwsService;
}

/** Opens the versions that the file holds. The file is made with the first version. */
export function openFunctionVersions(file: string, now: () => number): FunctionVersions {
  const versions = new Map(Object.entries(read(file)));
  const save = (): void => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(versions)));
    renameSync(`${file}.new`, file);
  };
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
      const operations: Readonly<Record<string, (call: AwsCall) => AwsOutput>> = {
        ListVersionsByFunction: (call) => {
          const { FunctionName, ...page } = parseInput(listSchema, call);
          requireFunction(functionIds, FunctionName);
          const listed = (versions.get(FunctionName) ?? []).filter(({ deleted }) => deleted !== true);
          const all = [
            describe(FunctionName, undefined),
            ...listed.map((one) => describe(FunctionName, one)),
          ];
          return pageOf('Versions', all, page);
        },
        ListAliases: (call) => {
          const { FunctionName, ...page } = parseInput(listSchema, call);
          requireFunction(functionIds, FunctionName);
          const own = aliases.filter(({ functionId }) => functionId === FunctionName);
          return pageOf('Aliases', own.map(describeAlias), page);
        },
        DeleteFunction: (call) => {
          const { FunctionName, Qualifier } = parseInput(deleteSchema, call);
          requireFunction(functionIds, FunctionName);
          if (Qualifier === '$LATEST')
            throw invalid('$LATEST version cannot be deleted without deleting the function.');
          const version = versions.get(FunctionName)?.find((one) => String(one.version) === Qualifier);
          if (version === undefined || version.deleted === true)
            throw notFound(`${FunctionName}:${Qualifier}`);
          const naming = aliases.filter(
            (alias) => alias.functionId === FunctionName && alias.version === Qualifier,
          );
          if (naming.length > 0) throw namedByAlias(FunctionName, Qualifier, naming);
          version.deleted = true;
          save();
          return {};
        },
      };
      // eslint-disable-next-line @typescript-eslint/require-await -- async turns a throw into a rejection
      return async (call) => {
        const operation = operations[call.operation];
        if (operation === undefined) throw unknownOperation(call);
        return operation(call);
      };
    },
  };
}

function read(file: string): z.output<typeof fileSchema> {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return {};
    throw error;
  }
}

/** Lambda gives at most 50 versions or aliases in one answer, also when more are asked for. */
const mostItems = 50;
const listSchema = z.object({
  FunctionName: z.string().min(1),
  MaxItems: z.coerce.number().int().min(1).max(10_000).default(mostItems),
  Marker: z.string().regex(/^\d+$/).optional(),
});
// Without a Qualifier, Lambda deletes the function. The stand-in does not.
const deleteSchema = z.object({
  FunctionName: z.string().min(1),
  Qualifier: z.string().regex(/^(\$LATEST|\d+)$/),
});

function pageOf(
  member: string,
  all: readonly AwsOutput[],
  { MaxItems, Marker = '0' }: { MaxItems: number; Marker?: string | undefined },
): AwsOutput {
  const from = Number(Marker);
  const next = from + Math.min(MaxItems, mostItems);
  return { [member]: all.slice(from, next), ...(next < all.length && { NextMarker: String(next) }) };
}

function functionArn(functionId: string, qualifier: string): string {
  return `arn:aws:lambda:${localRegion}:${localAccount}:function:${functionId}:${qualifier}`;
}

function describe(functionId: string, version: Version | undefined): AwsOutput {
  const qualifier = version === undefined ? '$LATEST' : String(version.version);
  return {
    FunctionName: functionId,
    FunctionArn: functionArn(functionId, qualifier),
    Version: qualifier,
    // Lambda writes this time with an offset instead of a Z.
    LastModified: new Date(version?.publishedAt ?? 0).toISOString().replace('Z', '+0000'),
  };
}

function describeAlias({ functionId, name, version }: LocalAlias): AwsOutput {
  return { AliasArn: functionArn(functionId, name), Name: name, FunctionVersion: version };
}

function requireFunction(functionIds: readonly string[], functionId: string): void {
  if (!functionIds.includes(functionId)) throw notFound(functionId);
}

function notFound(name: string): AwsError {
  const arn = `arn:aws:lambda:${localRegion}:${localAccount}:function:${name}`;
  return new AwsError('ResourceNotFoundException', `Function not found: ${arn}`, { status: 404 });
}

function invalid(message: string): AwsError {
  return new AwsError('InvalidParameterValueException', message);
}

function namedByAlias(functionId: string, version: string, aliases: readonly LocalAlias[]): AwsError {
  const names = aliases.map(({ name }) => name).join(', ');
  return new AwsError(
    'ResourceConflictException',
    `Version ${version} of ${functionId} is used by the aliases ${names}. Delete or change them first.`,
    { status: 409 },
  );
}
