/**
 * The browser that the npm package @sparticuz/chromium brings: for Linux on x86-64, without a download from
 * elsewhere. It is installed and unpacked once, into node_modules/.cache.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const own = fileURLToPath(new URL('./package', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/browser', import.meta.url));
const run = promisify(execFile);

/** The folder with the unpacked browser. It exists once the browser is installed. */
export async function installedFolder(): Promise<string> {
  const lock = await readFile(join(own, 'package-lock.json'));
  return join(cache, createHash('sha256').update(lock).digest('hex').slice(0, 16));
}

/** Whether the package has a browser for this machine. */
export function isSupported(platform: string, architecture: string): boolean {
  return platform === 'linux' && architecture === 'x64';
}

/** Installs the browser if it is missing. Takes four seconds and 290 MB of disk. Throws when npm fails. */
export async function installBrowser(say: (line: string) => void): Promise<void> {
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
