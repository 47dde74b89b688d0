/** Pictures instead of results: hills under a coloured sky. */
const skies = [
  '#243b55 #c06c53',
  '#102a2e #3fa796',
  '#2b1d3a #d98a8a',
  '#0f1b2d #6c8ebf',
  '#3a1a12 #f0a35e',
  '#1d2b1a #9fb86a',
];

export function picture(name: string): string {
  const index = Number(/\d+/.exec(name)?.[0] ?? 0);
  const [top, bottom] = (skies[index % skies.length] ?? '').split(' ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1216 832" width="1216" height="832"><defs><linearGradient id="a" x2="0" y2="1"><stop stop-color="${top ?? ''}"/><stop offset="1" stop-color="${bottom ?? ''}"/></linearGradient></defs><rect width="1216" height="832" fill="url(#a)"/><circle cx="${280 + index * 130}" cy="300" r="80" fill="#fff" opacity=".75"/><path d="M0 620 300 430 520 600 800 380 1216 640V832H0z" opacity=".45"/><path d="M0 720 420 560 760 740 1216 610V832H0z" opacity=".7"/></svg>`;
}
