/** `npm run lab -- NAME`: measurements and preparations that a contributor needs now and then. */
const programs = {
  bundles: () => import('../lab/bundles/command.ts'),
  clients: () => import('../lab/clients/command.ts'),
  memory: () => import('../lab/memory/command.ts'),
  sam: () => import('../lab/sam/command.ts'),
  vendors: () => import('../lab/vendors/command.ts'),
} as const;

const names = Object.keys(programs).join(', ');
const [name = '', ...args] = process.argv.slice(2);
if (Object.hasOwn(programs, name)) {
  const { run } = await programs[name as keyof typeof programs]();
  if (!(await run(args))) process.exitCode = 1;
} else if (name === '--help' || name === '-h') {
  console.log(
    `npm run lab -- NAME [options]\n\nNAME is ${names}. \`npm run lab -- NAME --help\` lists the options.`,
  );
} else {
  console.error(`npm run lab -- NAME: "${name}" is no program of the lab. The names are ${names}.`);
  process.exitCode = 1;
}
