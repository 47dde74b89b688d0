/** Every request of the recording, by the place where it is played. */
import { accessGroups, plainGroups, strictGroups } from './api-access.ts';
import { creationGroups, timedGroups } from './api-creations.ts';
import { inputGroups } from './api-inputs.ts';
import { moneyGroups, policyGroups } from './api-money.ts';
import { aloneGroups, outsideGroups } from './api-outside.ts';
import { repeatGroups, waitGroups } from './api-repeats.ts';
import type { ApiGroup } from './api-step.ts';

/** Played side by side. Those that take longest come first. */
export const groups: readonly ApiGroup[] = [
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
export const lastGroups: readonly ApiGroup[] = [...aloneGroups, ...timedGroups];

/** Of a service that tells failed authentications in the plain form and allows public addresses alone. */
export const strictServiceGroups: readonly ApiGroup[] = [...plainGroups, ...strictGroups];
