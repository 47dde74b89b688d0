/** Which service the operator's command works on. */
import { expect, it } from 'vitest';
import { runAdmin } from '../../admin/program.ts';

it('The command refuses --data beside --stack with one sentence, and asks no service', async () => {
  const printed: string[] = [];
  const complained: string[] = [];
  const said = {
    print: (line: string) => void printed.push(line),
    complain: (line: string) => void complained.push(line),
  };
  const code = await runAdmin(['--data', '.darkroom', '--stack', 'Darkroom', 'accounts', 'list'], said);
  expect([code, printed, complained]).toEqual([
    1,
    [],
    ['--data and --stack exclude each other: name the folder or the stack.'],
  ]);
});
