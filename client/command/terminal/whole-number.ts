/**
 * Reads an option's value as a whole number. Any other value ends the program with one sentence and exit code
 * 1.
 */
export function wholeNumber(option: string, text: string, least = 1): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
  console.error(`${option}: ${JSON.stringify(text)} must be a whole number of at least ${least}.`);
  process.exit(1);
}
