/**
 * The execution environments of the functions. Lambda freezes an environment as soon as its invocation has answered;
 * timers and pending calls go on when a later invocation thaws it. A crash or a time-out destroys the environment.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
 */
import type { Schema } from '../../../service/values/runtime.ts';
import type { Dice } from '../world/dice.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import type { VirtualTime } from '../world/time.ts';

/** What an environment knows of an invocation. */
export interface Guest {
  readonly id: string;
  readonly name: string;
  /** Set when the environment is destroyed. A dead invocation never gets what it waits for. */
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
  const hosts = new Map<Invocation, Environment<Invocation>>();

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
      hosts.set(invocation, environment);
      if (environment.waiting.length > 0)
        after(dice.between(`thaw at ${invocation.id}`, 0, longestThawMillis), () => {
          thaw(environment);
        });
    },
    freeze: (invocation) => {
      const environment = hosts.get(invocation);
      if (!environment) return;
      environment.host = undefined;
      idle.set(invocation.name, [...(idle.get(invocation.name) ?? []), environment]);
    },
    destroy: (invocation) => {
      for (const guest of hosts.get(invocation)?.guests ?? [invocation]) guest.dead = true;
    },
    hostOf: (invocation) => hosts.get(invocation)?.host,
    isFrozen: (invocation) => isFrozen(hosts.get(invocation)),
    whenAwake: (invocation, action) => {
      const environment = hosts.get(invocation);
      if (invocation.dead) return;
      if (environment && isFrozen(environment)) environment.waiting.push({ invocation, action });
      else action();
    },
  };
}

// The releases of one world. They are the same code. They differ in the version of the schema that they write,
// and in the newest version that they understand.

/** A change of the schema goes over two releases: `between` understands version 2, and `after` writes it. */
export const releaseSchemas = {
  before: { written: 1, newestKnown: 1 },
  between: { written: 1, newestKnown: 2 },
  after: { written: 2, newestKnown: 2 },
} as const satisfies Readonly<Record<string, Schema>>;

export type Release = keyof typeof releaseSchemas;

/** Creates the releases of one world. The first one is `before`. */
export function createReleases(world: World) {
  const ran = new WeakMap<Invocation, Release>();
  let current: Release = 'before';
  let newestWritten = 1;
  let behindUntil = -Infinity;
  const isBehind = (): boolean => releaseSchemas[current].newestKnown < newestWritten;
  return {
    current: (): Release => current,
    deploy: (release: Release) => {
      if (isBehind()) behindUntil = world.time.now();
      world.note(`release ${release} takes the place of ${current}`);
      world.noteIncident(`release ${current} to ${release}`);
      current = release;
      newestWritten = Math.max(newestWritten, releaseSchemas[release].written);
    },
    /** Notes that the running invocation runs this release, and returns what the release understands. */
    begin: (release: Release): Schema => {
      const invocation = world.current();
      if (invocation) ran.set(invocation, release);
      return releaseSchemas[release];
    },
    /** Undefined for an invocation that knows no schema, and outside of all invocations. */
    of: (invocation: Invocation | undefined): Release | undefined => invocation && ran.get(invocation),
    /** When a release that did not understand every record was last current. -Infinity: never. */
    lastBehindAt: (): number => (isBehind() ? world.time.now() : behindUntil),
  };
}
