/** `npm run preflight`: asks an account of AWS, read only, what would stop the deployment. */
import { Command, Option } from 'commander';
import { wholeNumber } from '../client/command/terminal/whole-number.ts';
import { preflightCommand } from '../admin/preflight/command.ts';

interface Options {
  readonly stage: string;
  readonly stack?: string;
  readonly settings?: string;
  readonly region?: string;
  readonly rate: string;
  readonly seconds: string;
  readonly vendor: 'synchronous' | 'job';
  readonly withoutAlarms?: boolean;
  readonly json?: boolean;
}

const options = new Command('npm run preflight --')
  .description('Ask an account of AWS what would stop the deployment, or limit it. Nothing is changed.')
  .option('--stage <name>', 'the settings of lib/config/NAME.ts', 'default')
  .option('--stack <name>', 'instead of a stage: the stack that the package deploys')
  .option('--settings <file>', 'the JSON file of settings for --stack')
  .option('--region <region>', 'the region of the stack; without it, that of the environment or the profile')
  .option('--rate <number>', 'creations a second that the deployment is to take', '10')
  .option('--seconds <number>', 'for how long a vendor renders', '15')
  .addOption(
    new Option('--vendor <kind>', 'job: a vendor that calls back')
      .choices(['synchronous', 'job'])
      .default('synchronous'),
  )
  .option('--without-alarms', 'go on although nobody gets the alarms')
  .option('--json', 'one JSON document')
  .parse()
  .opts<Options>();

process.exitCode = await preflightCommand(
  {
    stage: options.stage,
    stack: options.stack,
    settings: options.settings,
    region: options.region,
    traffic: {
      perSecond: wholeNumber('--rate', options.rate),
      seconds: wholeNumber('--seconds', options.seconds),
      kind: options.vendor,
      isPolled: true,
    },
    withoutAlarms: options.withoutAlarms === true,
    json: options.json === true,
  },
  { print: (line) => console.log(line), tell: (line) => console.error(line) },
);
