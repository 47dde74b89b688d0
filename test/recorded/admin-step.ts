/** The words in which the table of commands is written. */
import type { Scene } from './api-step.ts';

export interface AdminStep {
  /**
   * As a person types it, with quotes around words that belong together. `{name}` in it stands for a
   * value of the scene.
   */
  readonly run: string;
  /** Why it is tried, where the command does not say it; needed where the same command is run twice. */
  readonly what?: string;
  /** Piped into the command. */
  readonly input?: string;
  /** The field of this name in the printed JSON is a value of the scene from now on. */
  readonly save?: Readonly<Record<string, string>>;
  readonly before?: (scene: Scene) => unknown;
}

export interface AdminGroup {
  readonly name: string;
  /** Makes what the commands are about. */
  readonly prepare?: (scene: Scene) => unknown;
  readonly steps: readonly AdminStep[];
  readonly after?: (scene: Scene) => unknown;
}

/** The arguments of a command line; "" is an empty one. */
export function argumentsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
