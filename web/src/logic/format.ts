// Numbers, durations and sizes as people read them. Pure: no clock, no locale of the machine, so
// that the same value reads the same in a screenshot, a test and a table.

/** 0.0042 -> "4.2 ms", 95 -> "1 min 35 s", 90000 -> "1 d 1 h". */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  const sign = seconds < 0 ? '−' : '';
  const value = Math.abs(seconds);
  if (value === 0) return '0 s';
  if (value < 0.001) return `${sign}${trimmed(value * 1e6, 0)} µs`;
  if (value < 1) return `${sign}${trimmed(value * 1e3, value < 0.01 ? 1 : 0)} ms`;
  if (value < 10) return `${sign}${trimmed(value, 1)} s`;
  const whole = Math.round(value);
  if (whole < 60) return `${sign}${whole} s`;
  if (whole < 3600) return sign + pair(Math.floor(whole / 60), 'min', whole % 60, 's');
  const minutes = Math.floor(whole / 60);
  if (minutes < 1440) return sign + pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.floor(minutes / 60);
  return sign + pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** A duration in one unit, for narrow columns: "4 ms", "35 s", "2 min", "3 h", "9 d". */
export function shortDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  const value = Math.abs(seconds);
  const sign = seconds < 0 ? '−' : '';
  if (value === 0) return '0 s';
  if (value < 0.0009995) return `${sign}${trimmed(value * 1e6, 0)} µs`;
  if (value < 0.9995) return `${sign}${trimmed(value * 1e3, 0)} ms`;
  if (value < 10) return `${sign}${trimmed(value, 1)} s`;
  if (value < 90) return `${sign}${Math.round(value)} s`;
  if (value < 5400) return `${sign}${Math.round(value / 60)} min`;
  if (value < 172800) return `${sign}${Math.round(value / 3600)} h`;
  return `${sign}${Math.round(value / 86400)} d`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

function trimmed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** 1234567 -> "1,234,567"; at most `digits` after the point. */
export function count(value: number | null | undefined, digits = 0): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const [whole = '0', rest] = trimmed(Math.abs(value), digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return (value < 0 ? '−' : '') + (rest === undefined ? grouped : `${grouped}.${rest}`);
}

const kDecimal = ['', 'k', 'M', 'G', 'T', 'P'];

/** 15300 -> "15.3 k": three digits that matter. */
export function compact(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  let rest = Math.abs(value);
  let step = 0;
  while (rest >= 1000 && step < kDecimal.length - 1) {
    rest /= 1000;
    step += 1;
  }
  const digits = rest >= 100 || Number.isInteger(rest) ? 0 : rest >= 10 ? 1 : 2;
  const text = trimmed(rest, digits);
  return `${value < 0 ? '−' : ''}${text}${step === 0 ? '' : ` ${kDecimal[step]}`}`;
}

/** 1536 -> "1.5 KiB". */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let rest = Math.abs(value);
  let step = 0;
  while (rest >= 1024 && step < units.length - 1) {
    rest /= 1024;
    step += 1;
  }
  return `${value < 0 ? '−' : ''}${trimmed(rest, rest >= 100 || step === 0 ? 0 : 1)} ${units[step]}`;
}

/** Steps of an axis of bytes that are whole in what `bytes` writes: 20 MiB, where decimal ones are 19.1. Nothing for other units. */
export function axisSteps(unit = ''): number[] | null {
  if (!/^(bytes?|B)( per second|\/s|ps)?$/.test(unit)) return null;
  return [0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * 1024 ** power));
}

/** 0.99984 -> "99.98 %". Never rounds something below one up to 100 %. */
export function percent(ratio: number | null | undefined, digits = 1): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return '–';
  const scale = 10 ** digits;
  let value = Math.round(ratio * 100 * scale) / scale;
  if (value >= 100 && ratio < 1) value = Math.floor(ratio * 100 * scale) / scale;
  return `${trimmed(value, digits)} %`;
}

// How the units of manifests are written beside a number.
const kUnits: Record<string, string> = {
  celsius: '°C', fahrenheit: '°F', kelvin: 'K', volts: 'V', amperes: 'A', watts: 'W', hertz: 'Hz', rpm: 'rpm', dbm: 'dBm', decibels: 'dB',
};

/** A value with the unit of a manifest: "41.2 %", "1.5 KiB", "12 ms", "3.4 k/s", "10 Gbit/s". */
export function measure(value: number | null | undefined, unit = ''): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const each = /^(.+?)(?: per second|\/s|ps)$/.exec(unit);
  switch (unit) {
    case '%':
    case 'percent':
      return `${trimmed(value, Math.abs(value) < 10 ? 1 : 0)} %`;
    case 'ratio':
      return percent(value);
    case 's':
    case 'seconds':
    case 'second':
      return duration(value);
    case 'ms':
    case 'milliseconds':
      return duration(value / 1000);
    case 'days':
      return duration(value * 86400);
    case 'bytes':
    case 'byte':
    case 'B':
      return bytes(value);
    case '':
    case 'bool':
    case 'state':
      return compact(value);
    case 'per second':
      return `${compact(value)}/s`;
    default:
  }
  if (each !== null) {
    const what = each[1] ?? '';
    if (what === 'bytes' || what === 'B') return `${bytes(value)}/s`;
    if (what === 'bits' || what === 'bit' || what === 'b') return `${joined(value, 'bit')}/s`;
    return `${compact(value)} ${what}/s`;
  }
  if (unit.startsWith('/')) return compact(value) + unit;
  const symbol = kUnits[unit];
  return symbol === undefined ? `${compact(value)} ${unit}` : joined(value, symbol);
}

/** The letter of the size stands at the unit: 10 Gbit, 1.2 kW. */
function joined(value: number, symbol: string): string {
  const text = compact(value);
  return / [kMGTP]$/.test(text) ? text + symbol : `${text} ${symbol}`;
}

/** "1 target", "5,000 targets". */
export function plural(number: number, one: string, many = /(s|x|ch|sh)$/.test(one) ? `${one}es` : `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Texts of the API begin small; where one stands alone it begins as a sentence does. Names stay as they are. */
export function sentence(text: string): string {
  return /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
