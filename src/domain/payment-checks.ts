/** Whether the digits pass the Luhn check (ISO/IEC 7812-1, annex B). False for anything but digits. */
export function isLuhnValid(digits: string): boolean {
  if (!/^\d+$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Whether nine digits are an ABA routing number: weights 3, 7, 1 (ABA Routing Number Administrative Board). */
export function isAbaRoutingNumber(digits: string): boolean {
  if (!/^\d{9}$/.test(digits) || digits === '000000000') return false;
  const weights = [3, 7, 1];
  let sum = 0;
  for (let index = 0; index < 9; index++) sum += Number(digits[index]) * weights[index % 3]!;
  return sum % 10 === 0;
}
