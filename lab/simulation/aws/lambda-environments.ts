/**
 * The execution environments of the functions. Lambda freezes an environment as soon as its invocation has
 * answered: its timers and pending calls stand still. They go on when the environment serves a later
 * invocation, which may be minutes later. A crash or a time-out of the function destroys the environment.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
 */
import type { Dice } from '../world/dice.ts';
import type { VirtualTime } from '../world/time.ts';

/** What an environment knows of an invocation. */
export interface Guest {
  readonly id: string;
  readonly name: string;
  /** Set when the environment is destroyed. Nothing that a dead invocation waits for ever comes. */
  dead: boolean;
}

export interface Environments<Invocation extends Guest> {
  /** Begins an invocation in an idle environment of its function, or in a new one. */
  readonly enter: (invocation: Invocation) => void;
  /** Freezes the environment of an invocation that has answered. */
  readonly freeze: (invocation: Invocation) => void;
  /** Destroys the environment. Every invocation that it served is dead from then on. */
  readonly destroy: (invocation: Invocation) => void;
  /**
   * Runs an action of an invocation now, or when its environment is thawed. Never runs it for a dead
   * invocation.
   */
  readonly whenAwake: (invocation: Invocation, action: () => void) => void;
  readonly isFrozen: (invocation: Invocation) => boolean;
  /** The invocation that the same environment serves now; undefined while the environment is frozen. */
  readonly hostOf: (invocation: Invocation) => Invocation | undefined;
}

interface Environment<Invocation> {
  host: Invocation | undefined;
  readonly guests: Invocation[];
  /** The actions that came due while the environment was frozen, in their order. */
  waiting: { readonly invocation: Invocation; readonly action: () => void }[];
}

/** How often Lambda chooses an idle environment instead of a new one. */
const reuse = 0.7;
const longestThawMillis = 5;

/** `onThaw` is called for each invocation whose work continues after its own answer. */
export function createEnvironments<Invocation extends Guest>(
  dice: Dice,
  after: VirtualTime['after'],
  onThaw: (invocation: Invocation) => void,
): Environments<Invocation> {
  const idle = new Map<string, Environment<Invocation>[]>();
  const places = new Map<Invocation, Environment<Invocation>>();

  function take({ id, name }: Invocation): Environment<Invocation> {
    const free = idle.get(name) ?? [];
    if (free.length === 0 || !dice.chance(`environment of ${id} again`, reuse))
      return { host: undefined, guests: [], waiting: [] };
    const [taken] = free.splice(dice.between(`which environment of ${id}`, 0, free.length - 1), 1);
    return taken ?? { host: undefined, guests: [], waiting: [] };
  }

  /** Runs the actions that came due meanwhile, beside the first steps of the new invocation. */
  function thaw(environment: Environment<Invocation>): void {
    if (!environment.host) return;
    const due = environment.waiting;
    environment.waiting = [];
    for (const invocation of new Set(due.map((one) => one.invocation))) onThaw(invocation);
    for (const { invocation, action } of due) if (!invocation.dead) action();
  }

  const isFrozen = (environment: Environment<Invocation> | undefined): boolean =>
    environment !== undefined && environment.host === undefined;

  return {
    enter: (invocation) => {
      const environment = take(invocation);
      environment.host = invocation;
      environment.guests.push(invocation);
      places.set(invocation, environment);
      if (environment.waiting.length > 0)
        after(dice.between(`thaw at ${invocation.id}`, 0, longestThawMillis), () => {
          thaw(environment);
        });
    },
    freeze: (invocation) => {
      const environment = places.get(invocation);
      if (!environment) return;
      environment.host = undefined;
      idle.set(invocation.name, [...(idle.get(invocation.name) ?? []), environment]);
    },
    destroy: (invocation) => {
      for (const guest of places.get(invocation)?.guests ?? [invocation]) guest.dead = true;
    },
    hostOf: (invocation) => places.get(invocation)?.host,
    isFrozen: (invocation) => isFrozen(places.get(invocation)),
    whenAwake: (invocation, action) => {
      const environment = places.get(invocation);
      if (invocation.dead) return;
      if (environment && isFrozen(environment)) environment.waiting.push({ invocation, action });
      else action();
    },
  };
}
