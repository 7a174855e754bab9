/**
 * The rules of plain English that a script can hold. They are data, so that pages and comments are held
 * to the same ones. Each rule searches one sentence.
 */

interface EnglishRule {
  readonly name: string;
  /** What a rule refuses, in one sentence without line feeds. */
  readonly refused: RegExp;
  /** What to write, for the message of a test that fails. */
  readonly instead: string;
}

export const ENGLISH_RULES: readonly EnglishRule[] = [
  {
    // An order (`told to stop`) and an alert (`told when`) are no reports.
    name: 'no "told" for a report',
    refused: /\btold\b(?! (?:to|when)\b)/i,
    instead: 'report, say',
  },
  {
    name: 'no "Of ..." before the subject',
    refused: /^Of\b/,
    instead: 'the subject first',
  },
  {
    name: 'no "anew"',
    refused: /\banew\b/i,
    instead: 'again, recreate',
  },
  {
    name: 'no beginning with "Those", "One that" or "Such"',
    refused: /^(?:Those|One that|Such)\b/,
    instead: 'the noun',
  },
  {
    // A comparison (`as long as`) and a reason (`so long that`) are no amounts on their own.
    name: 'no "so long", "so much" or "so often" for an amount',
    refused: /\bso (?:long|much|often)\b(?! (?:as|that)\b)/i,
    instead: 'the amount by name',
  },
  {
    name: 'no "that of" or "those of"',
    refused: /\b(?:that|those) of\b/i,
    instead: 'repeat the noun',
  },
  {
    name: 'no "go on" or "bring about"',
    refused: /\b(?:go|goes|going|gone|went) on\b|\b(?:bring|brings|bringing|brought) about\b/i,
    instead: 'continue, cause',
  },
];

/** A colon or a semicolon ends a count, since what follows it can be read alone. */
const MAX_WORDS = 40;

/** Comments keep these too, in their first sentence: nothing stands before it. */
const BEGINNING_RULES: readonly EnglishRule[] = [
  {
    name: 'no beginning with "The same", "That", "Whoever" or "Nobody"',
    refused: /^(?:The same|That|Whoever|Nobody)\b/,
    instead: 'the noun',
  },
];

/** The sentences of a text. A colon ends none, since what follows it seldom stands alone. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?][)"'`*_”]*) (?=["'`*_“([]*[A-Z])/)
    .map((sentence) => sentence.trim().replace(/^[*_(["“]+/, ''))
    .filter((sentence) => sentence !== '');
}

/** What a text breaks: `the rule (write this instead): the sentence`. */
export function brokenRules(text: string): readonly string[] {
  return [
    ...sentencesOf(text).flatMap((sentence) => broken(ENGLISH_RULES, sentence)),
    ...clausesOf(text)
      .filter((clause) => clause.split(' ').length > MAX_WORDS)
      .map((clause) => `more than ${MAX_WORDS} words (several sentences): ${clause}`),
  ];
}

function clausesOf(text: string): readonly string[] {
  const paragraphs = text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim());
  return paragraphs.flatMap((paragraph) => paragraph.split(/(?<=[.!?:;][)"'`*_”]*) /));
}

/** `brokenRules`, and the rules about a beginning. */
export function brokenInComment(text: string): readonly string[] {
  const [first = ''] = sentencesOf(text);
  return [...broken(BEGINNING_RULES, first), ...brokenRules(text)];
}

function broken(rules: readonly EnglishRule[], sentence: string): readonly string[] {
  return rules
    .filter(({ refused }) => refused.test(sentence))
    .map(({ name, instead }) => `${name} (${instead}): ${sentence}`);
}
