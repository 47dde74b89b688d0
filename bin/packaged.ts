/** The command of the package. Each program is that of the repository, and is loaded only when it is asked for. */
import { enableCompileCache } from 'node:module';

/** In the order of the help. Every other word is a command of the client (docs/command.md). */
const programs = {
  demo: {
    load: () => import('./demo.ts'),
    does: 'one picture through the whole service, in a temporary folder',
  },
  serve: { load: () => import('./serve.ts'), does: 'the whole service on this machine, for others' },
  start: { load: () => import('./local.ts'), does: 'the same as a test machine, with a demo account' },
  systemd: { load: () => import('./systemd.ts'), does: 'print a unit of systemd for serve' },
  admin: { load: () => import('./admin.ts'), does: 'the command of the operator' },
  preflight: {
    load: () => import('./preflight.ts'),
    does: 'ask an account of AWS what would stop a deployment',
  },
  smoke: { load: () => import('./smoke.ts'), does: 'render one picture through a running service' },
  deploy: { load: async () => (await import('../admin/deploy/command.ts')).deploy(), does: 'deploy to AWS' },
  synth: {
    load: async () => (await import('../admin/deploy/command.ts')).synth(),
    does: 'write the templates of a deployment into a folder',
  },
} as const;

enableCompileCache();
// Node 22 warns of the database that locks the folder of the data (local/folder-lock.ts).
const emitWarning = process.emitWarning.bind(process) as (...all: unknown[]) => void;
process.emitWarning = (warning: string | Error, ...more: unknown[]) => {
  if (!String(warning).startsWith('SQLite is')) emitWarning(warning, ...more);
};

const [name = '--help', ...rest] = process.argv.slice(2);
const program = Object.hasOwn(programs, name) ? programs[name as keyof typeof programs] : undefined;
if (program) {
  process.argv.splice(2, 1);
  await program.load();
} else {
  if (name === '--help' || name === 'help') {
    console.log('Usage: darkroom COMMAND [options]\n\nThe service:');
    for (const [one, { does }] of Object.entries(programs)) console.log(`  ${one.padEnd(12)}${does}`);
    console.log('\nIts client:\n');
  }
  if (rest.length === 0 && name === 'help') process.argv.splice(2, 1);
  await import('../client/bin/darkroom.ts');
}
