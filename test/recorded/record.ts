/** Plays every request and every command once, and returns what came back. */
import { adminGroups } from './admin-commands.ts';
import { groups, lastGroups, strictServiceGroups } from './api-requests.ts';
import type { ApiEntry, Recording } from './entries.ts';
import { playCommands } from './play-admin.ts';
import { playInTurn, playSideBySide } from './play-api.ts';
import { setStage } from './stage.ts';

/** More lanes than processors, since a request mostly waits. */
const lanes = 4;

export async function record(): Promise<Recording> {
  const [usual, strict] = await Promise.all([recordUsual(), recordStrict()]);
  return { api: [...usual.api, ...strict], admin: usual.admin };
}

async function recordUsual(): Promise<Recording> {
  const stage = await setStage({});
  try {
    // First: some commands show every account there is.
    const admin = await playCommands(adminGroups, stage);
    const sideBySide = await playSideBySide(groups, stage, lanes);
    return { admin, api: [...sideBySide, ...(await playInTurn(lastGroups, stage))] };
  } finally {
    await stage.end();
  }
}

async function recordStrict(): Promise<ApiEntry[]> {
  const stage = await setStage({ strictOutbound: true, environment: { AUTH_FAILURE_FORM: 'plain' } });
  try {
    return await playInTurn(strictServiceGroups, stage);
  } finally {
    await stage.end();
  }
}
