/** The painter of the sandbox that keeps its last pictures. */
import { describe, expect, it } from 'vitest';
import { keepRecentPictures } from '../../adapters/providers/sandbox/recent-pictures.ts';
import type { PictureJob } from '../../adapters/providers/sandbox/picture/picture.ts';

const jobOf = (prompt: string, change: Partial<PictureJob> = {}): PictureJob => ({
  prompt,
  seed: 0,
  width: 1024,
  height: 1024,
  format: 'png',
  ...change,
});

function countedPainter(): { paint: (job: PictureJob) => Promise<Buffer>; painted: string[] } {
  const painted: string[] = [];
  const paint = keepRecentPictures((job) => {
    painted.push(job.prompt);
    return job.prompt === 'broken'
      ? Promise.reject(new Error('no paint'))
      : Promise.resolve(Buffer.from(JSON.stringify(job)));
  });
  return { paint, painted };
}

describe('A painter that keeps its last pictures', () => {
  it('The same job is painted once, also when two ask at the same time', async () => {
    const { paint, painted } = countedPainter();
    const both = await Promise.all([paint(jobOf('a lake')), paint(jobOf('a lake'))]);
    expect([...both, await paint(jobOf('a lake'))]).toEqual(Array(3).fill(both[0]));
    expect(painted).toEqual(['a lake']);
  });

  it.each([
    ['prompt', { prompt: 'a pier' }],
    ['seed', { seed: 1 }],
    ['width', { width: 832 }],
    ['height', { height: 832 }],
    ['format', { format: 'jpeg' }],
  ] as const)('A job with another %s gets a picture of its own', async (_member, change) => {
    const { paint } = countedPainter();
    await paint(jobOf('a lake'));
    expect((await paint(jobOf('a lake', change))).toString()).toBe(JSON.stringify(jobOf('a lake', change)));
  });

  it('The fifth picture takes the place of the picture that nobody has asked for longest', async () => {
    const { paint, painted } = countedPainter();
    for (const prompt of ['1', '2', '3', '4', '1', '5', '1', '2']) await paint(jobOf(prompt));
    expect(painted).toEqual(['1', '2', '3', '4', '5', '2']);
  });

  it('A picture that failed is painted again, and a large picture is never kept', async () => {
    const { paint, painted } = countedPainter();
    const large = jobOf('large', { width: 2048, height: 2048 });
    for (const job of [jobOf('broken'), jobOf('broken')])
      await expect(paint(job)).rejects.toThrow('no paint');
    for (const job of [large, large]) await paint(job);
    expect(painted).toEqual(['broken', 'broken', 'large', 'large']);
  });
});
