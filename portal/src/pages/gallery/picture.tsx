/** A picture in its own ratio. Until it is loaded, its colours are shown. */
import { useState } from 'preact/hooks';
import type { CreationDetail, PictureView } from '../../../../service/contract/portal-views.ts';

/** Blurred spots of the picture's nine colours. */
function placeholder(colours: readonly string[]): Readonly<Record<string, string>> {
  if (colours.length === 0) return {};
  const spots = colours.map((colour, index) => {
    const [x, y] = [(index % 3) * 50, Math.floor(index / 3) * 50];
    return `radial-gradient(circle at ${x}% ${y}%, ${colour}, transparent 60%)`;
  });
  return { backgroundColor: colours[4] ?? '', backgroundImage: spots.join(', ') };
}

export const ratioOf = ({ width, height }: Pick<PictureView, 'width' | 'height'>): number =>
  width > 0 && height > 0 ? width / height : 1;

/**
 * The page reads the bytes for a download as well. With `crossOrigin` the browser keeps one copy for both.
 * @param url null: only the colours are shown
 */
export function Picture(props: { of: PictureView; url: string | null; alt: string; isEager?: boolean }) {
  const { of, url, alt, isEager = false } = props;
  const [isThere, setThere] = useState(false);
  return (
    <span class={isThere ? 'photo there' : 'photo'} style={isThere ? {} : placeholder(of.colours)}>
      {url !== null && (
        <img
          src={url}
          alt={alt}
          crossOrigin="anonymous"
          decoding="async"
          loading={isEager ? 'eager' : 'lazy'}
          onLoad={() => setThere(true)}
        />
      )}
    </span>
  );
}

/** A result in its own ratio, as large as its container allows. */
export function Result({ of, alt }: { of: CreationDetail['results'][number]; alt: string }) {
  const { url, width, height } = of;
  return (
    <img
      src={url}
      width={width}
      height={height}
      style={{ '--ratio': String(ratioOf(of)) }}
      crossOrigin="anonymous"
      alt={alt}
    />
  );
}
