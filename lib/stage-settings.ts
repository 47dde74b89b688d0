import { existsSync } from 'node:fs';
import { parseSettings, SettingsError, type Settings } from './settings.ts';

/** The stage of `cdk deploy` without `-c stage=NAME`. */
export const defaultStage = 'default';

/** The stage whose stack may be deleted at any time. */
const developmentStage = 'dev';

/** The stack of a stage: its name, and whether CloudFormation refuses to delete it. */
export function stackOf(stage: string): {
  readonly stackName: string;
  readonly terminationProtection: boolean;
} {
  return {
    stackName: stage === defaultStage ? 'Darkroom' : `Darkroom-${stage}`,
    terminationProtection: stage !== developmentStage,
  };
}

const configFolder = new URL('./config/', import.meta.url);

/**
 * The settings of lib/config/STAGE.ts. Throws SettingsError, also for a stage that has no such file.
 * @param folder another folder instead of lib/config/, for tests
 */
export async function settingsOf(stage: string, folder = configFolder): Promise<Settings> {
  // The name of a stage becomes part of a path and of names in AWS.
  if (!/^[a-z][a-z0-9-]{0,29}$/.test(stage))
    throw new SettingsError(
      `stage: ${JSON.stringify(stage)} must be a name of small letters, digits and hyphens, 30 at most`,
    );
  const file = `lib/config/${stage}.ts`;
  const url = new URL(`${stage}.ts`, folder);
  if (!existsSync(url))
    throw new SettingsError(`stage: there is no ${file}; copy lib/config/${defaultStage}.ts to begin with`);
  return parseSettings(file, await defaultExportOf(file, url));
}

async function defaultExportOf(file: string, url: URL): Promise<unknown> {
  try {
    return ((await import(url.href)) as { default?: unknown }).default;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`${file}: cannot be loaded (${why})`, { cause: error });
  }
}
