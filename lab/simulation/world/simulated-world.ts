/** What one simulated world offers to the service, the clients and the invariants in it. */
import type { InvocationResult } from '../../../local/lambda/messages.ts';
import type { Dice } from './dice.ts';
import type { Effect } from './effects.ts';
import type { Call, Fault, FaultPlan } from './faults.ts';
import type { Clocks, VirtualTime } from './time.ts';

/** One run of a function, or of an operator's command. */
export interface Invocation {
  readonly id: string;
  readonly name: string;
  readonly startedAt: number;
  /**
   * How wrong the clock of this invocation's environment is, in milliseconds. Other errors of clocks come on
   * top.
   */
  readonly skew: number;
  /**
   * Set after a crash or a time-out of the environment. Nothing that a dead invocation does has any effect.
   */
  dead: boolean;
  /**
   * Set once the invocation has answered. From then on its work goes on only when its environment serves
   * again.
   */
  hasAnswered: boolean;
  /** Whether a fault struck one of its calls. */
  faulted: boolean;
  /** The faults that struck its calls. */
  readonly faults: Fault[];
  readonly die: (errorType: string) => void;
}

export interface WorldOptions {
  readonly seed: number;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly faults: FaultPlan;
  /**
   * How wrong the clock of an environment may be, in either direction. Two clocks differ by up to twice as
   * much.
   */
  readonly clockSpreadMillis: number;
  /** How long a transaction holds its items at least and at most, in milliseconds. */
  readonly holdMillis: readonly [least: number, most: number];
  /** The time that each call of the image bucket takes in addition, in milliseconds. */
  readonly slowBucketMillis: number;
}

/** A call of a dependency, as the caller describes it. */
export interface CallRequest {
  readonly service: string;
  readonly operation: string;
  /** What the call is about. It distinguishes two call sites that use the same operation. */
  readonly target: string;
  /** When it fires, the caller stops waiting for the answer. The effect may still happen. */
  readonly signal?: AbortSignal;
}

/** A call that an invocation makes after its own answer. */
export interface LateCall {
  readonly invocation: Invocation;
  readonly operation: string;
  readonly target: string;
}

/** How often a call site was reached. */
export interface CalledSite {
  readonly call: Omit<Call, 'occurrence'>;
  count: number;
}

export interface World {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly randomBytes: (count: number) => Uint8Array;
  /**
   * The time that the caller's clock shows: the true time, plus the errors of all clocks and of its
   * environment.
   */
  readonly now: () => number;
  readonly clocks: Clocks;
  /** Whether no new fault strikes at present. */
  isCalm: () => boolean;
  /** Whether the image bucket of a slow scenario is slow at present. */
  isBucketSlow: () => boolean;
  /** How often each incident of the scenario happened. */
  readonly incidents: Map<string, number>;
  readonly trace: string[];
  /** All faults that struck so far. */
  readonly injected: Fault[];
  /** The call sites that were reached, by their names. */
  readonly sites: Map<string, CalledSite>;
  /** When the last fault struck. */
  lastFaultAt: number;
  /** The invocation whose code is running. */
  readonly current: () => Invocation | undefined;
  /** Runs work that goes on after the invocation that asked for it has ended. */
  readonly outside: <Result>(work: () => Result) => Result;
  /** Runs an action as a part of an invocation: at once, or when its environment is thawed, or never. */
  readonly whenAwake: (invocation: Invocation | undefined, action: () => void) => void;
  /** The invocations that have neither answered nor died. */
  readonly live: Set<Invocation>;
  /** Writes a line into the trace. */
  readonly note: (text: string) => void;
  /** Counts an incident of the scenario, such as a lost callback. */
  readonly noteIncident: (name: string) => void;
  /** Runs a function as Lambda does: within its time limit, and a crash destroys its environment. */
  readonly invoke: RunWork;
  /** Runs an operator's command in a process of its own, which ends with the command. */
  readonly command: RunWork;
  /** Receives each call that an invocation makes after its own answer. */
  onLateCall: (call: LateCall) => void;
  /** Receives the end of each invocation. `errorType` is undefined when it returned a payload. */
  onEnded: (invocation: Invocation, errorType: string | undefined) => void;
  /**
   * Makes one call of a dependency. Rejects with the refusal of the effect, with AnswerLost, or with Aborted.
   */
  readonly call: <Answer>(request: CallRequest, effect: Effect<Answer>) => Promise<Answer>;
  readonly sleep: (millis: number, signal?: AbortSignal) => Promise<void>;
  /** A hash of the trace so far. */
  readonly hash: () => string;
}

export type RunWork = (
  name: string,
  limitMillis: number,
  work: (id: string) => Promise<unknown>,
) => Promise<InvocationResult>;
