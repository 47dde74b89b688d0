/**
 * The versions of earlier releases. A running execution invokes the versions that its definition names,
 * so an update keeps the versions of earlier releases. This file decides which of them can no longer be
 * needed.
 */
export interface FunctionVersion {
  readonly functionName: string;
  readonly version: number;
  /** Unix milliseconds. */
  readonly publishedAt: number;
}

/** A version, by the name of its function and its number. */
export type VersionName = `${string}:${number}`;

/** Everything that names versions. */
export interface VersionUses {
  /** Versions that the definition of a state machine names today. */
  readonly definitions: ReadonlySet<VersionName>;
  /** Versions that the definition of a running execution names. */
  readonly executions: ReadonlySet<VersionName>;
  /** The names of the aliases of a version. */
  readonly aliases: ReadonlyMap<VersionName, readonly string[]>;
}

/** Why a version stays. */
export type Kept = 'newest' | 'definition' | 'alias' | 'execution' | 'recent';

export interface JudgedVersion extends FunctionVersion {
  /** Unix milliseconds at which the next version of the function was published. Absent: there is none. */
  readonly supersededAt?: number;
  /** Absent when the version can no longer be needed. */
  readonly kept?: Kept;
  readonly aliases: readonly string[];
}

/** TimeoutSeconds of the state machine (statemachines/creation.asl.json). */
export const longestExecutionMillis = 7_200_000;
/**
 * The longest time from the publication of a version to the update of the definition, in one deployment. It
 * includes the shift of the API's traffic. CloudFormation needs some minutes.
 */
export const deploymentMillis = 3_600_000;

export function nameOfVersion({ functionName, version }: FunctionVersion): VersionName {
  return `${functionName}:${version}`;
}

/** The versions that an Amazon States Language definition names, in the ARNs of functions. */
export function versionsNamedIn(definition: string): VersionName[] {
  return [...definition.matchAll(/arn:[\w-]+:lambda:[\w-]+:\d{12}:function:([\w-]+):(\d+)/g)].map(
    ([, functionName = '', version = '']): VersionName => `${functionName}:${Number(version)}`,
  );
}

/**
 * Judges all versions of the functions, the oldest of each function first.
 * @param leastAgeMillis younger versions stay in any case
 */
export function judgeVersions(
  versions: readonly FunctionVersion[],
  uses: VersionUses,
  { nowMillis, leastAgeMillis }: { readonly nowMillis: number; readonly leastAgeMillis: number },
): readonly JudgedVersion[] {
  return [...Map.groupBy(versions, ({ functionName }) => functionName).values()].flatMap((own) => {
    const inOrder = [...own].sort((left, right) => left.version - right.version);
    return inOrder.map((version, place) => {
      const supersededAt = inOrder[place + 1]?.publishedAt;
      const aliases = uses.aliases.get(nameOfVersion(version)) ?? [];
      const isRecent =
        version.publishedAt > nowMillis - leastAgeMillis ||
        // An execution may have begun with the older definition until the deployment was over.
        (supersededAt ?? nowMillis) > nowMillis - longestExecutionMillis - deploymentMillis;
      const kept = keptBecause(version, uses, { isNewest: supersededAt === undefined, aliases, isRecent });
      return {
        ...version,
        aliases,
        ...(supersededAt !== undefined && { supersededAt }),
        ...(kept !== undefined && { kept }),
      };
    });
  });
}

function keptBecause(
  version: FunctionVersion,
  { definitions, executions }: VersionUses,
  found: { readonly isNewest: boolean; readonly aliases: readonly string[]; readonly isRecent: boolean },
): Kept | undefined {
  const name = nameOfVersion(version);
  if (definitions.has(name)) return 'definition';
  if (found.aliases.length > 0) return 'alias';
  if (executions.has(name)) return 'execution';
  // A deployment that is under way publishes before anything names the version.
  if (found.isNewest) return 'newest';
  return found.isRecent ? 'recent' : undefined;
}
