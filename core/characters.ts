/**
 * The length of a text in Unicode code points. Every length that the API limits is counted in
 * this unit: an emoji outside the basic plane is one character and not two.
 */
export function characters(text: string): number {
  return Array.from(text).length;
}

/**
 * The text with A to Z in lower case. Two texts that differ only in the case of ASCII letters become equal, and no
 * others do. toLowerCase() also makes the Kelvin sign (U+212A) a "k", so that one person could pass for
 * another.
 */
export function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
