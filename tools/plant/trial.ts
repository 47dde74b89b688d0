/**
 * Runs the tests against planted bugs in a copy of the project, so that a killed run leaves no bug in the
 * project.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { plantedIn, type Bug } from './draw.ts';

/** `by` names the part of the tests that failed or exceeded its time limit. */
export type Verdict = { readonly outcome: 'caught'; readonly by: string } | { readonly outcome: 'survived' };

export interface Trial {
  /** Throws when tests fail without a bug. */
  baseline(): Promise<void>;
  verdictOn(bug: Bug): Promise<Verdict>;
  end(): void;
}

/** One part of the tests. A bug can make a loop endless, so a run beyond the time limit counts as caught. */
interface Phase {
  readonly name: string;
  readonly limitSeconds: number;
  /** The arguments for Node. Empty when this part has no test for the file. */
  readonly command: (file: string) => readonly string[];
}

const phaseNames = ['unit', 'simulation', 'stack', 'service'] as const;
type PhaseName = (typeof phaseNames)[number];
/**
 * Tests that call the code directly. All other tests start the service or read the template. They wait for a
 * synthesis, so they run later.
 */
const direct = /^test\/(core|functions|adapters)\//;
/** The files whose bugs the tests of the template are likely to find. */
const isOfTheStack = /^(lib|statemachines|config)\//;
const unitConfig =
  "import config from './vitest.config.ts';\nexport default { ...config, test: { ...config.test, globalSetup: [], testTimeout: 20_000 } };\n";

/** For each test file, the files that it imports directly or through other files. */
function reachedByTests(root: string): ReadonlyMap<string, ReadonlySet<string>> {
  const importsOf = (file: string): string[] =>
    ts
      .preProcessFile(readFileSync(join(root, file), 'utf8'))
      .importedFiles.flatMap(({ fileName }) =>
        fileName.startsWith('.') && fileName.endsWith('.ts')
          ? [normalize(join(dirname(file), fileName))]
          : [],
      );
  const known = new Map<string, string[]>();
  const reach = (file: string, seen: Set<string>): Set<string> => {
    if (seen.has(file)) return seen;
    seen.add(file);
    const imports = known.get(file) ?? importsOf(file);
    known.set(file, imports);
    for (const next of imports) reach(next, seen);
    return seen;
  };
  return new Map(
    globSync('test/**/*.test.ts', { cwd: root })
      .sort()
      .map((file) => [file, reach(file, new Set())]),
  );
}

function phasesOf(root: string, names: readonly string[]): Phase[] {
  const reached = reachedByTests(root);
  const vitest = (files: readonly string[], ...options: string[]): readonly string[] =>
    files.length === 0
      ? []
      : ['node_modules/vitest/vitest.mjs', 'run', '--bail', '1', '--maxWorkers', '1', ...options, ...files];
  const whole = [...reached.keys()].filter(
    (test) => !direct.test(test) && !/^test\/(simulation|plant|local)\//.test(test),
  );
  const unitsOf = (file: string): string[] =>
    [...reached].filter(([test, files]) => direct.test(test) && files.has(file)).map(([test]) => test);
  const phases: Readonly<Record<PhaseName, Phase>> = {
    unit: {
      name: 'unit',
      limitSeconds: 240,
      command: (file) => vitest(unitsOf(file), '--config', 'vitest.unit.config.ts'),
    },
    simulation: {
      name: 'simulation',
      limitSeconds: 300,
      command: (file) => (file.startsWith('lib/') ? [] : ['bin/simulate.ts', '--seeds', '60']),
    },
    stack: {
      name: 'stack',
      limitSeconds: 300,
      command: (file) =>
        isOfTheStack.test(file) ? vitest(whole.filter((test) => test.startsWith('test/stack/'))) : [],
    },
    // The tests of the stack run the functions, too. They seldom find a bug that the other tests miss.
    service: {
      name: 'service',
      limitSeconds: 1_200,
      command: (file) =>
        vitest(whole.filter((test) => !isOfTheStack.test(file) || !test.startsWith('test/stack/'))),
    },
  };
  return phaseNames.filter((name) => names.length === 0 || names.includes(name)).map((name) => phases[name]);
}

/**
 * Makes a copy of all files that git does not ignore. The copy links to the installed packages and has its
 * own cache.
 */
function copyOf(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'darkroom-plant-'));
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  }).split('\0');
  for (const file of files.filter((name) => name !== '')) cpSync(join(root, file), join(copy, file));
  mkdirSync(join(copy, 'node_modules', '.cache'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  }
  writeFileSync(join(copy, 'vitest.unit.config.ts'), unitConfig);
  return copy;
}

/**
 * Opens a copy of the project for planted bugs. `names` are the parts of the tests that run; none means all.
 */
export function openTrial(root: string, names: readonly string[]): Trial {
  const copy = copyOf(root);
  const phases = phasesOf(root, names);
  const ended = new AbortController();

  /** True after exit code 0, and undefined when the time limit ended the run. */
  const run = (command: readonly string[], limitSeconds: number): Promise<boolean | undefined> =>
    new Promise((resolve, reject) => {
      const env = {
        ...process.env,
        PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`,
        NODE_COMPILE_CACHE: join(copy, 'node_modules', '.cache', 'compiled'),
      };
      const child = spawn(process.execPath, command, { cwd: copy, env, stdio: 'ignore', detached: true });
      // The child has its own process group, so that its workers end with it.
      const stop = (): void => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      };
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        stop();
      }, limitSeconds * 1_000);
      ended.signal.addEventListener('abort', stop);
      child.on('error', reject);
      child.on('exit', (code) => {
        clearTimeout(timer);
        ended.signal.removeEventListener('abort', stop);
        resolve(isLate ? undefined : code === 0);
      });
    });

  const verdictAfter = async (file: string): Promise<Verdict> => {
    for (const { name, limitSeconds, command } of phases) {
      const asked = command(file);
      const isGood = asked.length === 0 || (await run(asked, limitSeconds));
      if (isGood !== true)
        return { outcome: 'caught', by: isGood === undefined ? `${name}, time limit` : name };
    }
    return { outcome: 'survived' };
  };

  return {
    baseline: async () => {
      const verdict = await verdictAfter('core/money.ts');
      if (verdict.outcome === 'caught') throw new Error(`without any bug the tests fail: ${verdict.by}`);
    },
    verdictOn: async (bug) => {
      const path = join(copy, bug.file);
      const good = readFileSync(path, 'utf8');
      writeFileSync(path, plantedIn(good, bug));
      try {
        return await verdictAfter(bug.file);
      } finally {
        writeFileSync(path, good);
      }
    },
    end: () => {
      ended.abort();
      rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
