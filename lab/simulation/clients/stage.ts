/** What the steps of a scenario share. */
import type { Service } from '../aws/deployed-service.ts';
import type { Invariants } from '../invariants/all-invariants.ts';
import type { World } from '../world/simulated-world.ts';
import type { AccountHeld, OperatorKeyHeld } from './open-accounts.ts';
import type { Step } from './scenario.ts';

export interface Stage {
  readonly world: World;
  readonly service: Service;
  readonly invariants: Invariants;
  /** When the scenario began, Unix milliseconds. */
  readonly startAt: number;
  /** The account that a step names. */
  readonly accountOf: (step: Step) => AccountHeld;
  /** The keys of the operator API. */
  readonly operatorKeys: readonly OperatorKeyHeld[];
}
