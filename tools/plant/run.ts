/** `npm run lab -- plant`: plants bugs one at a time, runs the tests, and prints which bugs no test catches. */
import { openProject, type Bug } from './draw.ts';
import { openTrial, type Trial, type Verdict } from './trial.ts';

export interface PlantOptions {
  /** The root folder of the project. */
  readonly root: string;
  readonly seed: number;
  readonly count: number;
  readonly folders: readonly string[];
  /** Bugs are planted only in files whose path ends with this text. */
  readonly only?: string | undefined;
  /** The parts of the tests that run; none means all. */
  readonly phases: readonly string[];
  /** How many bugs are tried at the same time. */
  readonly lanes: number;
  readonly json: boolean;
}

interface Result {
  readonly bug: Bug;
  readonly verdict: Verdict;
}

const placeOf = ({ file, line, kind }: Bug): string => `${file}:${line} ${kind}`;
const changeOf = (bug: Bug): string => `${placeOf(bug)}\n  - ${bug.before}\n  + ${bug.after}`;

/** Prints the bugs that these options draw, and runs no test. */
export function listBugs(options: PlantOptions): void {
  for (const bug of drawn(options)) console.log(changeOf(bug));
}

/** Tries every drawn bug. A signal ends the run early and prints the results so far. */
export async function plantBugs(options: PlantOptions): Promise<void> {
  const trials: Trial[] = [];
  const results: Result[] = [];
  endAtSignal(trials, () => summarize(results, options));
  const bugs = drawn(options);
  await Promise.all(Array.from({ length: options.lanes }, () => runLane(bugs, trials, results, options)));
  summarize(results, options);
}

/** The first bugs of the draw that compile. The compiler already refuses the others. */
function* drawn({ root, seed, count, folders, only }: PlantOptions): Generator<Bug> {
  const project = openProject(root);
  let left = count;
  for (const bug of project.bugs({ root, seed, folders, only })) {
    if (left === 0) return;
    if (!project.compiles(bug)) continue;
    left -= 1;
    yield bug;
  }
}

/** Each trial has a copy of the project, which must be removed when the run ends early. */
function endAtSignal(trials: readonly Trial[], summary: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const trial of trials) trial.end();
      summary();
      process.exit(1);
    });
  }
}

/** Takes bugs from the list, which all lanes share, until the list is empty. */
async function runLane(
  bugs: Iterable<Bug>,
  trials: Trial[],
  results: Result[],
  { root, phases, json }: PlantOptions,
): Promise<void> {
  const trial = openTrial(root, phases);
  trials.push(trial);
  try {
    await trial.baseline();
    for (const bug of bugs) {
      const started = performance.now();
      const verdict = await trial.verdictOn(bug);
      results.push({ bug, verdict });
      if (!json) console.log(resultLine(results.length, { bug, verdict }, performance.now() - started));
    }
  } finally {
    trial.end();
  }
}

function resultLine(number: number, { bug, verdict }: Result, millis: number): string {
  const said = verdict.outcome === 'caught' ? `caught by ${verdict.by}` : 'SURVIVED';
  const seconds = (millis / 1_000).toFixed(0).padStart(5);
  return `${String(number).padStart(4)} ${said.padEnd(28)} ${seconds} s  ${placeOf(bug)}`;
}

function summarize(results: readonly Result[], { folders, json }: PlantOptions): void {
  if (json) {
    const rows = results.map(({ bug, verdict }) => ({ ...bug, ...verdict }));
    console.log(JSON.stringify(rows, null, 2));
    return;
  }
  for (const folder of folders) {
    const here = results.filter(({ bug }) => bug.file.startsWith(`${folder}/`));
    if (here.length > 0) console.log(folderLine(folder, here));
  }
  for (const { bug, verdict } of results)
    if (verdict.outcome === 'survived') console.log(`\n${changeOf(bug)}`);
}

function folderLine(folder: string, results: readonly Result[]): string {
  const caught = results.filter(({ verdict }) => verdict.outcome === 'caught').length;
  const percent = ((100 * caught) / results.length).toFixed(0);
  return `${folder.padEnd(24)} ${caught} of ${results.length} caught, ${percent} %`;
}
