/** The browsers that tests may use, in the order in which they are tried. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installBrowser, installedFolder, isSupported } from './installed-browser.ts';

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
