/** The commands that erase and export, against the whole service. */
import { describe, expect, it } from 'vitest';
import { recordOf, settled, submit } from '../whole/workflow/creations.ts';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService();

describe('creations erase', () => {
  it('erases what has ended, names what has not, and ends with 1 then', async () => {
    const { service } = operated;
    const client = await service.client();
    const id = await submit(service, client.key, { prompt: 'a secret castle' });
    await settled(service, id);
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const open = await submit(service, client.key, { prompt: 'a secret lake' });
    service.machine.faults.clear();
    const absent = '019aa5a0-1000-7000-8000-00000000000a';
    expect(await operated.run('creations', 'erase', id)).toEqual({
      data: [{ id, outcome: 'erased' }],
    });
    const { code, out } = await operated.admin('--json', 'creations', 'erase', id, open, absent);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      {
        data: [
          { id, outcome: 'erased' },
          { id: open, outcome: 'open' },
          { id: absent, outcome: 'absent' },
        ],
      },
    ]);
    expect(await recordOf(service, id)).toMatchObject({ prompt: null, erasedBy: 'operator' });
    expect(await recordOf(service, open)).toMatchObject({ prompt: 'a secret lake' });
    expect(await operated.run('creations', 'show', id)).toMatchObject({
      prompt: null,
      erased_by: 'operator',
    });
  });
});
