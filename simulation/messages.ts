/** What the processes of `npm run simulate` say; told twice, since nothing that runs depends on a test. */

/** What simulation/runs/jobs.ts says. */
export type Message =
  | {
      kind: 'ran';
      seeds: number;
      faults: number;
      sites: string[];
      struck: string[];
      kinds: Record<string, number>;
      slowest: { seed: number; millis: number };
    }
  | { kind: 'answered'; answers: Record<string, number> }
  | { kind: 'failed'; report: Report }
  | { kind: 'traced'; lines: string[]; hashes: [string, string]; violations: object[]; report?: Report }
  | { kind: 'done' };

export interface Report {
  /** Absent for a run that no seed made. */
  seed?: number;
  violation: { invariant: string; detail: string };
  found: { steps: number; faults: number };
  steps: string[];
  faults: object[];
  tail: string[];
}

/** What simulation/kill/main.ts says. */
export type KillMessage =
  | { kind: 'line'; line: string }
  | {
      kind: 'killed';
      report: {
        requests: number;
        retried: number;
        accepted: number;
        creations: number;
        webhooks: number;
        wrong: string[];
      };
    };
