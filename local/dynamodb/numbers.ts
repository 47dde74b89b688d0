/**
 * DynamoDB's numbers, up to 38 digits between 1E-130 and 9.99E+125, as text in one form: equal numbers are equal texts.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
 */
import Big from 'big.js';
import { invalid } from './refusals.ts';

const maxDigits = 38;
const maxExponent = 125;
const minExponent = -130;

const usualInteger = /^(?:0|-?[1-9]\d{0,14})$/;
const anyNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Texts of at most this length are whole numbers below 2^53 or short fractions: a double orders them. */
const safeLength = 15;

/** Whether the text is a whole number in the engine's form, as most numbers are. */
export function isNormal(text: string): boolean {
  return usualInteger.test(text);
}

/** The number in the engine's form. Throws ValidationException. */
export function normalNumber(text: string): string {
  if (usualInteger.test(text)) return text;
  if (!anyNumber.test(text)) throw invalid('A value provided cannot be converted into a number');
  return written(new Big(text.replace(/^\+/, '').replace(/\.(?=$|[eE])/, '')));
}

/** Negative, zero or positive. Both numbers are in the engine's form. */
export function compareNumbers(left: string, right: string): number {
  if (left === right) return 0;
  if (left.length <= safeLength && right.length <= safeLength) return Number(left) - Number(right);
  return new Big(left).cmp(right);
}

/** left + right, exactly. Both are in the engine's form, and so is the sum. Throws ValidationException. */
export function add(left: string, right: string): string {
  const quick = usualInteger.test(left) && usualInteger.test(right);
  return quick ? String(Number(left) + Number(right)) : written(new Big(left).plus(right));
}

/** left - right, exactly. Both are in the engine's form, and so is the difference. */
export function subtract(left: string, right: string): string {
  const quick = usualInteger.test(left) && usualInteger.test(right);
  return quick ? String(Number(left) - Number(right)) : written(new Big(left).minus(right));
}

function written(number: Big): string {
  if (number.eq(0)) return '0';
  if (number.c.length > maxDigits) throw invalid('DynamoDB only supports precision up to 38 digits');
  if (number.e > maxExponent)
    throw invalid('Number overflow. Attempting to store a number with magnitude larger than supported range');
  if (number.e < minExponent)
    throw invalid(
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    );
  return number.toFixed();
}
