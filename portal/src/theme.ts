/** The theme: that of the system, or the one that the person chose in this browser. */
export const themes = ['system', 'dark', 'light'] as const;
export type Theme = (typeof themes)[number];

const storageName = 'darkroom.theme';

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(storageName);
  return themes.find((theme) => theme === stored) ?? 'system';
}

export function applyTheme(theme = chosenTheme()): void {
  if (theme === 'system') localStorage.removeItem(storageName);
  else localStorage.setItem(storageName, theme);
  document.documentElement.dataset['theme'] = theme;
}
