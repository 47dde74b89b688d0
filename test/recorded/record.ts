/** Every request of the recording, by the place where it is played. */
import { adminGroups } from './admin-commands.ts';
import { accessGroups, plainGroups, strictGroups } from './api-access.ts';
import { creationGroups, timedGroups } from './api-creations.ts';
import { inputGroups } from './api-inputs.ts';
import { moneyGroups, policyGroups } from './api-money.ts';
import { aloneGroups, outsideGroups } from './api-outside.ts';
import { repeatGroups, waitGroups } from './api-repeats.ts';
import type { ApiGroup } from './api-step.ts';
import type { ApiEntry, Recording } from './normalise.ts';
import { playCommands } from './play-admin.ts';
import { playInTurn, playSideBySide } from './play-api.ts';
import { setStage } from './stage.ts';

/** Played side by side. Those that take longest come first. */
const groups: readonly ApiGroup[] = [
  ...outsideGroups,
  ...creationGroups,
  ...waitGroups,
  ...repeatGroups,
  ...moneyGroups,
  ...policyGroups,
  ...accessGroups,
  ...inputGroups,
];

/** Played one after another, when all others have ended. */
const lastGroups: readonly ApiGroup[] = [...aloneGroups, ...timedGroups];

/** Of a service that tells failed authentications in the plain form and allows public addresses alone. */
const strictServiceGroups: readonly ApiGroup[] = [...plainGroups, ...strictGroups];

// Plays every request and every command once, and returns what came back.

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
