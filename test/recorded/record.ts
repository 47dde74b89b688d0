/** Plays every request and every command once, and returns what came back. */
import { adminGroups } from './admin-commands.ts';
import { inputGroups } from './api-inputs.ts';
import type { ApiGroup } from './api-step.ts';
import type { AdminEntry, ApiEntry, Recording } from './entries.ts';
import { playCommands } from './play-admin.ts';
import { playSideBySide } from './play-api.ts';
import { setStage } from './stage.ts';

/** More lanes than processors, since a request mostly waits. */
const lanes = 4;

export async function record(): Promise<Recording> {
  const stage = await setStage({});
  try {
    // First: some commands show every account there is.
    const admin: readonly AdminEntry[] = await playCommands(adminGroups, stage);
    const groups: readonly ApiGroup[] = inputGroups;
    const api: readonly ApiEntry[] = await playSideBySide(groups, stage, lanes);
    return { api, admin };
  } finally {
    await stage.end();
  }
}
