/** The command `evidence`: what an account of AWS does, beside what the docs assume. */
import { writeFileSync } from 'node:fs';
import { deployedOf, gatherEvidence } from '../evidence/gather.ts';
import { reportOf } from '../evidence/report.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';

interface EvidenceCommand {
  readonly report?: string;
  readonly webhook?: string;
}

/** Each count of transitions. Two of them and the rest of the command are well below one cent. */
const creations = 10;

export function addEvidenceCommand(program: OperatorCommand): void {
  program
    .task('evidence', 'measure in a deployed stack what no document of AWS settles; takes some minutes')
    .option('--webhook <url>', 'a receiver that answers 2xx, for the successes with a webhook')
    .option('--report <file>', 'write a report in Markdown, without ids and addresses')
    .run(async ({ services, output, tell, fail }, { report, webhook }: EvidenceCommand) => {
      // A service of one machine is refused before a file is made.
      deployedOf(services);
      if (report !== undefined) write(report, '');
      tell('It costs less than 0.05 USD at AWS, and no vendor is asked. Run it in a quiet time.');
      const rows = await gatherEvidence(
        services,
        { creations, webhookUrl: webhook, windowMillis: 60_000, waitMillis: 300_000 },
        tell,
      );
      output.list(
        rows.map((row) => ({ ...row })),
        'Nothing was measured.',
      );
      if (report !== undefined) write(report, reportOf(rows, new Date(services.clock.now())));
      if (rows.some(({ verdict }) => verdict === 'differs' || verdict === 'could not ask')) fail();
    });
}

/** The file is made before the minutes of measuring, too. */
function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`--report: the file cannot be written (${why}).`, {}, { cause: error });
  }
}
