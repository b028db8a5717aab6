//! Check digits.

/// Returns the check digit of Luhn's formula over the digits of a text, 0 to 9. Other characters do not count.
///
/// From the right, every other digit is doubled, first the last one, and the digits of all products are added. It finds each wrong
/// digit, and each exchange of neighbours but 09 and 90.
///
/// Source: ISO/IEC 7812-1:2017, annex B.
pub(super) fn luhn(text: &[u8]) -> u8 {
    let digits = text.iter().rev().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0');
    let mut sum = 0;
    for (place, digit) in digits.enumerate() {
        let product = if place % 2 == 0 { digit * 2 } else { digit };
        sum = (sum + product / 10 + product % 10) % 10;
    }
    (10 - sum) % 10
}

/// Returns the check digits over the digits and letters of a text, 2 to 98. A letter, capital or not, counts as a number from 10 to 35,
/// and other characters do not count.
///
/// The number that the digits and the check digits make together leaves the remainder 1 when divided by 97. It finds each wrong
/// digit and each exchange of two digits.
///
/// Source: ISO/IEC 7064:2003, the pure system MOD 97-10; letters as in ISO 13616-1 (IBAN).
pub(super) fn mod97(text: &[u8]) -> u8 {
    let mut remainder = 0;
    for letter in text {
        if let Some(value) = char::from(*letter).to_digit(36) {
            remainder = (remainder * if value < 10 { 10 } else { 100 } + value) % 97;
        }
    }
    // The remainder is below 97.
    (98 - remainder * 100 % 97) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luhn_agrees_with_published_numbers() {
        // The example of the article "Luhn algorithm" of Wikipedia, and test numbers of cards.
        assert_eq!(luhn(b"1789372997"), 4);
        assert_eq!(luhn(b"7992739871"), 3);
        assert_eq!(luhn(b"4111 1111 1111 111"), 1);
        assert_eq!(luhn(b"INV-0"), 0);
    }

    #[test]
    fn mod97_agrees_with_published_numbers() {
        // The example of ISO/IEC 7064, and IBANs of the registry, whose country and check digits stand last here.
        assert_eq!(mod97(b"794"), 44);
        assert_eq!(mod97(b"WEST12345698765432GB"), 82);
        assert_eq!(mod97(b"west 1234 5698 7654 32gb"), 82);
        assert_eq!(mod97(b"370400440532013000DE"), 89);
        assert_eq!((mod97(b"96"), mod97(b"-")), (4, 98));
    }
}
