/**
 * npm run plant -- --seed N --count 100     plants small bugs by lot, one at a time, and tells which of them no test catches
 *                  [--folders core,lib]     only there; otherwise core, functions, adapters, lib and the definition
 *                  [--only FILE] [--list]   only files whose path ends so; list the bugs without running a test
 *                  [--phases unit,stack]    only these parts of the tests: unit, simulation, stack, service
 *                  [--lanes 2] [--json]     two bugs at a time; the result as JSON
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../terminal/whole-number.ts';
import { openProject, plantingFolders, type Bug } from '../tools/plant/draw.ts';
import { openTrial, type Trial, type Verdict } from '../tools/plant/trial.ts';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    folders: { type: 'string', default: plantingFolders.join() },
    only: { type: 'string' },
    phases: { type: 'string', default: '' },
    lanes: { type: 'string', default: '1' },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const [count, lanes, seed] = [
  wholeNumber('--count', values.count),
  wholeNumber('--lanes', values.lanes),
  wholeNumber('--seed', values.seed, 0),
];
const placeOf = ({ file, line, kind }: Bug): string => `${file}:${line} ${kind}`;
const changeOf = (bug: Bug): string => `${placeOf(bug)}\n  - ${bug.before}\n  + ${bug.after}`;
const say = (line: string): void => {
  if (!values.json) console.log(line);
};

/** The first bugs of the lot that compile: what the compiler refuses is not planted. */
function* planted(): Generator<Bug> {
  const project = openProject(root);
  let left = count;
  for (const bug of project.bugs({ root, seed, folders: values.folders.split(','), only: values.only })) {
    if (left === 0) return;
    if (!project.compiles(bug)) continue;
    left -= 1;
    yield bug;
  }
}

/** A run that is ended early takes its copies of the project with it. */
const trials: Trial[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const trial of trials) trial.end();
    summarize();
    process.exit(1);
  });
}

const results: { readonly bug: Bug; readonly verdict: Verdict }[] = [];

async function lane(bugs: Iterable<Bug>): Promise<void> {
  const trial = openTrial(
    root,
    values.phases.split(',').filter((name) => name !== ''),
  );
  trials.push(trial);
  try {
    await trial.baseline();
    for (const bug of bugs) {
      const started = performance.now();
      const verdict = await trial.verdictOn(bug);
      results.push({ bug, verdict });
      const said = verdict.outcome === 'caught' ? `caught by ${verdict.by}` : 'SURVIVED';
      say(
        `${String(results.length).padStart(4)} ${said.padEnd(28)} ${((performance.now() - started) / 1_000).toFixed(0).padStart(5)} s  ${placeOf(bug)}`,
      );
    }
  } finally {
    trial.end();
  }
}

function summarize(): void {
  for (const folder of values.folders.split(',')) {
    const here = results.filter(({ bug }) => bug.file.startsWith(`${folder}/`));
    const caught = here.filter(({ verdict }) => verdict.outcome === 'caught').length;
    if (here.length > 0)
      say(
        `${folder.padEnd(24)} ${caught} of ${here.length} caught, ${((100 * caught) / here.length).toFixed(0)} %`,
      );
  }
  for (const { bug, verdict } of results) if (verdict.outcome === 'survived') say(`\n${changeOf(bug)}`);
  if (values.json)
    console.log(
      JSON.stringify(
        results.map(({ bug, verdict }) => ({ ...bug, ...verdict })),
        null,
        2,
      ),
    );
}

if (values.list) {
  for (const bug of planted()) console.log(changeOf(bug));
} else {
  const bugs = planted();
  await Promise.all(Array.from({ length: lanes }, () => lane(bugs)));
  summarize();
}
