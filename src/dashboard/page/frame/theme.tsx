/** Light or dark: as the system prefers, unless the user has chosen. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { keep, kept } from '../adapters/browser.ts';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const KEPT_AS = 'lockstep-theme';

const ICONS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' };

function chosenTheme(): Theme {
  const chosen = kept(KEPT_AS);
  return THEMES.find((theme) => theme === chosen) ?? 'system';
}

/** Goes round: system, light, dark. */
export function ThemeSwitch() {
  const [theme, choose] = useState(chosenTheme);
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    if (theme === 'system') delete dataset['theme'];
    else dataset['theme'] = theme;
    keep(KEPT_AS, theme === 'system' ? null : theme);
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  const text = `Theme: ${theme}. Change to ${next}`;
  return (
    <button type="button" class="button is-plain" title={text} onClick={() => choose(next)}>
      <span aria-hidden="true">{ICONS[theme]}</span>
      <span class="visually-hidden">{text}</span>
    </button>
  );
}
