import type { PictureJob } from './picture/picture.ts';

type Paint = (job: PictureJob) => Promise<Buffer>;

/** The number of pictures that stay in memory. A picture of 1K has about 1.5 MB. */
const mostPictures = 4;
/** A larger picture does not stay in memory: a picture of 4K may have 30 MB. */
const mostPixels = 1 << 21;

/**
 * A painter that keeps its last pictures in memory. Tests and load runs of clients repeat their prompts, and
 * a picture takes 0.1 to 0.2 s of a processor. The same job always gives the same bytes, so nobody can see the
 * difference. Callers must not change the bytes.
 */
export function keepRecentPictures(paint: Paint): Paint {
  const recent = new Map<string, Promise<Buffer>>();
  return async (job) => {
    if (job.width * job.height > mostPixels) return paint(job);
    const key = JSON.stringify(job);
    const picture = recent.get(key) ?? paint(job);
    // A map keeps its order of insertion: the least recently used picture is the first.
    recent.delete(key);
    recent.set(key, picture);
    const [oldest] = recent.keys();
    if (recent.size > mostPictures && oldest !== undefined) recent.delete(oldest);
    try {
      return await picture;
    } catch (error) {
      recent.delete(key);
      throw error;
    }
  };
}
