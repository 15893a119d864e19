//! Published test vectors, and what must be refused.

use super::{
    Algorithm, Cipher, Curve, Derivation, Error, Exported, Family, Format, Generated, Generation, Hash, Jwk,
    Key, KeyData, Kind, Mode, Scheme, Usage, Usages, export, import, key_bits,
};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
        .collect()
}

fn usages(names: &[Usage]) -> Usages {
    names.iter().copied().collect()
}

fn raw(secret: &[u8], algorithm: Algorithm, names: &[Usage]) -> Key {
    import(
        &KeyData::Raw(secret.to_vec()),
        algorithm,
        None,
        algorithm != Algorithm::Pbkdf2,
        usages(names),
    )
    .unwrap()
}

fn jwk(text: &str, algorithm: Algorithm, names: &[Usage]) -> Result<Key, Error> {
    let jwk: Jwk = serde_json::from_str(text).unwrap();
    import(&KeyData::Jwk(Box::new(jwk)), algorithm, None, true, usages(names))
}

fn base64(bytes: &[u8]) -> String {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    URL_SAFE_NO_PAD.encode(bytes)
}

const NIST_PLAIN: &str = "6bc1bee22e409f96e93d7e117393172a";

#[test]
fn aes_cbc_and_ctr_are_those_of_nist_sp_800_38a() {
    let check = |key: &str, expected_cbc: &str, expected_ctr: &str| {
        let key = |mode| raw(&hex(key), Algorithm::Aes(mode), &[Usage::Encrypt, Usage::Decrypt]);
        let plain = hex(NIST_PLAIN);
        let cbc = Cipher::Cbc {
            iv: (0..16).collect(),
        };
        let encrypted = cbc.encrypt(&key(Mode::Cbc), &plain).unwrap();
        assert_eq!((&encrypted[..16], encrypted.len()), (&*hex(expected_cbc), 32));
        assert_eq!(cbc.decrypt(&key(Mode::Cbc), &encrypted).unwrap(), plain);
        let ctr = Cipher::Ctr {
            counter: (0xf0..=0xff).collect(),
            bits: 128,
        };
        let encrypted = ctr.encrypt(&key(Mode::Ctr), &plain).unwrap();
        assert_eq!(encrypted, hex(expected_ctr));
        assert_eq!(ctr.decrypt(&key(Mode::Ctr), &encrypted).unwrap(), plain);
    };
    check(
        "2b7e151628aed2a6abf7158809cf4f3c",
        "7649abac8119b246cee98e9b12e9197d",
        "874d6191b620e3261bef6864990db6ce",
    );
    check(
        "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        "4f021db243bc633d7178183a9fa071e8",
        "1abc932417521ca24f2b0459fe7e6e0b",
    );
    check(
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
        "f58c4c04d6e5f1ba779eabfb5f7bfbd6",
        "601ec313775789a5b7a7f504bbf3d228",
    );
}

#[test]
fn aes_gcm_is_that_of_its_specification() {
    // Test cases 2, 8 and 14 of "The Galois/Counter Mode of Operation (GCM)", McGrew and Viega.
    for (key_bytes, expected, tag) in [
        (
            16,
            "0388dace60b6a392f328c2b971b2fe78",
            "ab6e47d42cec13bdf53a67b21257bddf",
        ),
        (
            24,
            "98e7247c07f0fe411c267e4384b0f600",
            "2ff58d80033927ab8ef4d4587514f0fb",
        ),
        (
            32,
            "cea7403d4d606b6e074ec5d3baf39d18",
            "d0d1c8a799996bf0265b98b5d48ab919",
        ),
    ] {
        let key = raw(
            &vec![0; key_bytes],
            Algorithm::Aes(Mode::Gcm),
            &[Usage::Encrypt, Usage::Decrypt],
        );
        for tag_bits in [128, 120, 112, 104, 96] {
            let gcm = |additional: &[u8]| Cipher::Gcm {
                iv: vec![0; 12],
                additional: additional.to_vec(),
                tag_bits,
            };
            let mut whole = hex(expected);
            whole.extend(&hex(tag)[..tag_bits as usize / 8]);
            assert_eq!(gcm(b"").encrypt(&key, &[0; 16]).unwrap(), whole);
            assert_eq!(gcm(b"").decrypt(&key, &whole).unwrap(), [0; 16]);
            assert_eq!(
                gcm(b"other").decrypt(&key, &whole).unwrap_err().kind,
                Kind::Operation
            );
            for at in 0..whole.len() {
                let mut changed = whole.clone();
                changed[at] ^= 1;
                assert!(gcm(b"").decrypt(&key, &changed).is_err(), "{at}");
            }
            assert!(
                gcm(b"")
                    .decrypt(&key, &whole[..tag_bits as usize / 8 - 1])
                    .is_err()
            );
        }
    }
}

#[test]
fn the_counter_of_aes_ctr_wraps_within_its_length() {
    let key = raw(&[7; 16], Algorithm::Aes(Mode::Ctr), &[Usage::Encrypt]);
    let encrypt = |counter: u128, bits, n_bytes: usize| {
        let counter = counter.to_be_bytes().to_vec();
        Cipher::Ctr { counter, bits }.encrypt(&key, &vec![0; n_bytes])
    };
    let fixed = 0xaabb_ccdd_u128 << 8;
    let block = |low: u128| encrypt(fixed | low, 128, 16).unwrap();
    let whole = encrypt(fixed | 0xfe, 8, 70).unwrap();
    let expected = [block(0xfe), block(0xff), block(0), block(1), block(2)].concat();
    assert_eq!(whole, expected[..70]);
    assert!(encrypt(0, 8, 256 * 16).is_ok());
    for (bits, n_bytes) in [(8, 256 * 16 + 1), (0, 16), (129, 16)] {
        assert_eq!(encrypt(0, bits, n_bytes).unwrap_err().kind, Kind::Operation);
    }
    let all_ones = encrypt(u128::MAX, 128, 32).unwrap();
    assert_eq!(all_ones[16..], encrypt(0, 128, 16).unwrap());
}

#[test]
fn hmac_is_that_of_rfc_4231() {
    let key = raw(
        b"Jefe",
        Algorithm::Hmac(Hash::Sha256),
        &[Usage::Sign, Usage::Verify],
    );
    let data = b"what do ya want for nothing?";
    let expected = hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    assert_eq!(Scheme::Hmac.sign(&key, data).unwrap(), expected);
    assert!(Scheme::Hmac.verify(&key, &expected, data).unwrap());
    assert!(!Scheme::Hmac.verify(&key, &expected, b"other").unwrap());
    assert!(!Scheme::Hmac.verify(&key, &expected[..31], data).unwrap());
}

#[test]
fn pbkdf2_is_that_of_rfc_6070_and_7914() {
    let check = |hash, password: &str, iterations: u32, expected: &str| {
        let key = raw(
            password.as_bytes(),
            Algorithm::Pbkdf2,
            &[Usage::DeriveBits, Usage::DeriveKey],
        );
        let derivation = Derivation::Pbkdf2 {
            hash,
            salt: b"salt".to_vec(),
            iterations: iterations.try_into().unwrap(),
        };
        let expected = hex(expected);
        let bits = derivation.bits(&key, Some(expected.len() * 8), Usage::DeriveBits);
        assert_eq!(bits.unwrap(), expected);
    };
    check(
        Hash::Sha1,
        "password",
        1,
        "0c60c80f961f0e71f3a9b524af6012062fe037a6",
    );
    check(
        Hash::Sha1,
        "password",
        4096,
        "4b007901b765489abead49d926f721d065a429c1",
    );
    check(
        Hash::Sha256,
        "passwd",
        1,
        "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc
         49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783",
    );
}

/// The key of a curve with a private number, by way of its JSON Web Key.
fn on_curve(curve: Curve, d: &str, x: &str, y: &str, ecdsa: bool) -> [Key; 2] {
    let part = |text: &str| base64(&hex(text));
    let public = format!(
        r#"{{"kty":"EC","crv":"{}","x":"{}","y":"{}""#,
        curve.name(),
        part(x),
        part(y)
    );
    let private = format!(r#"{public},"d":"{}"}}"#, part(d));
    let public = format!("{public}}}");
    let (algorithm, own, other): (_, &[Usage], &[Usage]) = if ecdsa {
        (Algorithm::Ecdsa(curve), &[Usage::Sign], &[Usage::Verify])
    } else {
        (Algorithm::Ecdh(curve), &[Usage::DeriveBits], &[])
    };
    [
        jwk(&private, algorithm, own).unwrap(),
        jwk(&public, algorithm, other).unwrap(),
    ]
}

#[test]
fn ecdsa_is_that_of_rfc_6979() {
    let check = |curve, hash, [d, x, y]: [&str; 3], expected: &str| {
        let [private, public] = on_curve(curve, d, x, y, true);
        let scheme = Scheme::Ecdsa(hash);
        let signature = scheme.sign(&private, b"sample").unwrap();
        assert_eq!(signature, hex(expected));
        for any in [Hash::Sha1, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
            let scheme = Scheme::Ecdsa(any);
            let signature = scheme.sign(&private, b"sample").unwrap();
            assert!(scheme.verify(&public, &signature, b"sample").unwrap());
            assert!(!scheme.verify(&public, &signature, b"other").unwrap());
            assert!(!scheme.verify(&public, &signature[1..], b"sample").unwrap());
        }
    };
    check(
        Curve::P256,
        Hash::Sha256,
        [
            "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721",
            "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6",
            "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299",
        ],
        "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
         F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
    );
    check(
        Curve::P384,
        Hash::Sha384,
        [
            "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D8
             96D5724E4C70A825F872C9EA60D2EDF5",
            "EC3A4E415B4E19A4568618029F427FA5DA9A8BC4AE92E02E06AAE5286B300C64
             DEF8F0EA9055866064A254515480BC13",
            "8015D9B72D7D57244EA8EF9AC0C621896708A59367F9DFB9F54CA84B3F1C9DB1
             288B231C3AE0D4FE7344FD2533264720",
        ],
        "94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C
         81A648152E44ACF96E36DD1E80FABE46
         99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94F
         A329C145786E679E7B82C71A38628AC8",
    );
    check(
        Curve::P521,
        Hash::Sha512,
        [
            "00FAD06DAA62BA3B25D2FB40133DA757205DE67F5BB0018FEE8C86E1B68C7E75
             CAA896EB32F1F47C70855836A6D16FCC1466F6D8FBEC67DB89EC0C08B0E996B8
             3538",
            "01894550D0785932E00EAA23B694F213F8C3121F86DC97A04E5A7167DB4E5BCD
             371123D46E45DB6B5D5370A7F20FB633155D38FFA16D2BD761DCAC474B9A2F50
             23A4",
            "00493101C962CD4D2FDDF782285E64584139C2F91B47F87FF82354D6630F746A
             28A0DB25741B5B34A828008B22ACC23F924FAAFBD4D33F81EA66956DFEAA2BFD
             FCF5",
        ],
        "00C328FAFCBD79DD77850370C46325D987CB525569FB63C5D3BC53950E6D4C5F
         174E25A1EE9017B5D450606ADD152B534931D7D4E8455CC91F9B15BF05EC36E3
         77FA
         00617CCE7CF5064806C467F678D3B4080D6F1CC50AF26CA209417308281B68AF
         282623EAA63E5B5C0723D8B8C37FF0777B1A20F8CCB1DCCC43997F1EE0E44DA4
         A67A",
    );
}

#[test]
fn ecdh_is_that_of_rfc_5903() {
    let [own, _] = on_curve(
        Curve::P256,
        "C88F01F510D9AC3F70A292DAA2316DE544E9AAB8AFE84049C62A9C57862D1433",
        "DAD0B65394221CF9B051E1FECA5787D098DFE637FC90B9EF945D0C3772581180",
        "5271A0461CDB8252D61F1C456FA3E59AB1F45B33ACCF5F58389E0577B8990BB3",
        false,
    );
    let [_, other] = on_curve(
        Curve::P256,
        "C6EF9C5D78AE012A011164ACB397CE2088685D8F06BF9BE0B283AB46476BEE53",
        "D12DFB5289C8D4F81208B70270398C342296970A0BCCB74C736FC7554494BF63",
        "56FBF3CA366CC23E8157854C13C58D6AAC23F046ADA30F8353E74F33039872AB",
        false,
    );
    let secret = hex("D6840F6B42F6EDAFD13116E0E12565202FEF8E9ECE7DCE03812464D04B9442DE");
    let ecdh = Derivation::Ecdh {
        public: Box::new(other),
    };
    let bits = |bits| ecdh.bits(&own, bits, Usage::DeriveBits);
    assert_eq!(bits(None).unwrap(), secret);
    assert_eq!(bits(Some(128)).unwrap(), secret[..16]);
    for wrong in [0, 7, 264] {
        assert_eq!(bits(Some(wrong)).unwrap_err().kind, Kind::Operation);
    }
    let error = ecdh.bits(&own, None, Usage::DeriveKey).unwrap_err();
    assert_eq!(error.kind, Kind::InvalidAccess);
}

/// The key of RFC 7515 A.2.
const RSA: &str = r#"{"kty":"RSA",
"n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
"e":"AQAB",
"d":"Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ",
"p":"4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
"q":"uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc"}"#;

#[test]
fn rsa_pkcs1_is_that_of_rfc_7515() {
    let message = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let expected = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let key = jwk(RSA, Algorithm::RsaPkcs1(Hash::Sha256), &[Usage::Sign]).unwrap();
    let signature = Scheme::RsaPkcs1.sign(&key, message.as_bytes()).unwrap();
    assert_eq!(base64(&signature), expected);
}

#[test]
fn keys_are_the_same_in_every_format() {
    let of = |algorithm, bits| Generation {
        algorithm,
        bits,
        exponent: vec![1, 0, 1],
        is_extractable: true,
        usages: algorithm
            .family()
            .private_usages()
            .iter()
            .chain(algorithm.family().public_usages().iter())
            .collect(),
    };
    let mut keys = Vec::new();
    for generation in [
        of(Algorithm::Aes(Mode::Gcm), Some(192)),
        of(Algorithm::Hmac(Hash::Sha384), None),
        of(Algorithm::Ecdsa(Curve::P256), None),
        of(Algorithm::Ecdh(Curve::P384), None),
        of(Algorithm::Ecdsa(Curve::P521), None),
        of(Algorithm::RsaPss(Hash::Sha1), Some(1024)),
    ] {
        match generation.generate().unwrap() {
            Generated::Secret(key) => keys.push((key, vec![Format::Raw, Format::Jwk])),
            Generated::Pair { private, public } => {
                let mut formats = vec![Format::Spki, Format::Jwk];
                formats.extend(public.exponent().is_none().then_some(Format::Raw));
                keys.push((private, vec![Format::Pkcs8, Format::Jwk]));
                keys.push((public, formats));
            }
        }
    }
    assert_eq!(keys.len(), 10);
    let text = |key: &Key| match export(key, Format::Jwk).unwrap() {
        Exported::Jwk(jwk) => serde_json::to_string(&jwk).unwrap(),
        Exported::Bytes(_) => panic!("a JSON Web Key has no bytes"),
    };
    for (key, formats) in keys {
        for format in [Format::Raw, Format::Pkcs8, Format::Spki, Format::Jwk] {
            let exported = export(&key, format);
            assert_eq!(exported.is_ok(), formats.contains(&format), "{format:?}");
            let Ok(exported) = exported else { continue };
            let data = match (format, exported) {
                (_, Exported::Jwk(jwk)) => KeyData::Jwk(jwk),
                (Format::Raw, Exported::Bytes(bytes)) => KeyData::Raw(bytes),
                (Format::Pkcs8, Exported::Bytes(bytes)) => KeyData::Pkcs8(bytes),
                (_, Exported::Bytes(bytes)) => KeyData::Spki(bytes),
            };
            let again = import(&data, key.algorithm, None, true, key.usages).unwrap();
            assert_eq!(text(&again), text(&key));
            assert_eq!(again.bits(), key.bits());
        }
    }
}

#[test]
fn rsa_pss_and_oaep_are_undone() {
    let pss = Algorithm::RsaPss(Hash::Sha256);
    let public = RSA
        .split("\"d\"")
        .next()
        .unwrap()
        .trim_end()
        .trim_end_matches(',')
        .to_owned()
        + "}";
    let (private, public_pss) = (
        jwk(RSA, pss, &[Usage::Sign]).unwrap(),
        jwk(&public, pss, &[Usage::Verify]).unwrap(),
    );
    for salt in [0, 20, 32] {
        let signature = Scheme::RsaPss(salt).sign(&private, b"data").unwrap();
        let verify = |salt, data: &[u8]| {
            Scheme::RsaPss(salt)
                .verify(&public_pss, &signature, data)
                .unwrap()
        };
        assert!(verify(salt, b"data"));
        assert!(!verify(salt, b"other"));
        assert!(!verify(salt + 1, b"data"));
    }
    assert!(Scheme::RsaPss(500).sign(&private, b"data").is_err());
    for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
        let oaep = Algorithm::RsaOaep(hash);
        let private = jwk(RSA, oaep, &[Usage::Decrypt]).unwrap();
        let public = jwk(&public, oaep, &[Usage::Encrypt]).unwrap();
        let cipher = |label: &[u8]| Cipher::Oaep {
            label: label.to_vec(),
        };
        let encrypted = cipher(b"label").encrypt(&public, b"data").unwrap();
        assert_eq!(cipher(b"label").decrypt(&private, &encrypted).unwrap(), b"data");
        assert!(cipher(b"").decrypt(&private, &encrypted).is_err());
        assert!(cipher(b"").encrypt(&public, &[0; 256]).is_err());
    }
}

#[test]
fn keys_do_only_what_they_are_for() {
    let key = raw(&[1; 16], Algorithm::Aes(Mode::Cbc), &[Usage::Encrypt]);
    let cbc = Cipher::Cbc { iv: vec![0; 16] };
    let gcm = Cipher::Gcm {
        iv: vec![0; 12],
        additional: Vec::new(),
        tag_bits: 128,
    };
    let check = |error: Error, kind, text: &str| {
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.text.contains(text), "{error}");
    };
    check(
        cbc.decrypt(&key, &[0; 16]).unwrap_err(),
        Kind::InvalidAccess,
        "its usages are [encrypt]",
    );
    check(
        gcm.encrypt(&key, b"x").unwrap_err(),
        Kind::InvalidAccess,
        "encrypt() with AES-GCM does not work with a secret key of AES-CBC",
    );
    check(
        Cipher::Cbc { iv: vec![0; 15] }.encrypt(&key, b"x").unwrap_err(),
        Kind::Operation,
        "has 15 bytes; expected 16",
    );
    let of = |data: &[u8], algorithm, names: &[Usage]| {
        import(&KeyData::Raw(data.to_vec()), algorithm, None, true, usages(names))
            .err()
            .unwrap()
    };
    let aes = Algorithm::Aes(Mode::Cbc);
    check(of(&[0; 15], aes, &[Usage::Encrypt]), Kind::Data, "not 120");
    check(
        of(&[0; 16], aes, &[Usage::Sign]),
        Kind::Syntax,
        "`sign` is not a usage",
    );
    check(of(&[0; 16], aes, &[]), Kind::Syntax, "must not be empty");
    check(
        of(b"", Algorithm::Hmac(Hash::Sha1), &[Usage::Sign]),
        Kind::Data,
        "empty",
    );
    check(
        of(b"x", Algorithm::Pbkdf2, &[Usage::DeriveKey]),
        Kind::Syntax,
        "not be extractable",
    );
    check(
        of(&[4; 65], Algorithm::Ecdh(Curve::P256), &[]),
        Kind::Data,
        "not a public key of the curve P-256",
    );
    check(
        jwk(
            r#"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#,
            Algorithm::Ecdh(Curve::P256),
            &[],
        )
        .err()
        .unwrap(),
        Kind::Data,
        "the `crv` of the JSON Web Key is `P-384`",
    );
    check(
        Family::parse("AES-KW").unwrap_err(),
        Kind::NotSupported,
        "`AES-KW` is not supported",
    );
    assert_eq!(Family::parse("rsassa-pkcs1-V1_5"), Ok(Family::RsaPkcs1));
    assert_eq!(key_bits(aes, Some(129)).unwrap_err().kind, Kind::Operation);
}

#[test]
fn bad_wishes_for_keys_are_refused() {
    let generate = |algorithm, bits, exponent: &[u8], names: &[Usage]| {
        let generation = Generation {
            algorithm,
            bits,
            exponent: exponent.to_vec(),
            is_extractable: true,
            usages: usages(names),
        };
        generation.generate().err().map(|error| error.kind)
    };
    let rsa = Algorithm::RsaPkcs1(Hash::Sha256);
    let aes = Algorithm::Aes(Mode::Ctr);
    let odd = [1, 0, 1];
    for (algorithm, bits, exponent, names, expected) in [
        (rsa, Some(512), &odd[..], Usage::Sign, Kind::Operation),
        (rsa, Some(16384), &odd, Usage::Sign, Kind::Operation),
        (rsa, Some(1024), &[1, 0, 0], Usage::Sign, Kind::Operation),
        (rsa, Some(1024), &[1], Usage::Sign, Kind::Operation),
        (rsa, Some(1024), &odd, Usage::Encrypt, Kind::Syntax),
        (rsa, Some(1024), &odd, Usage::Verify, Kind::Syntax),
        (aes, Some(100), &[], Usage::Encrypt, Kind::Operation),
        (aes, None, &[], Usage::Encrypt, Kind::Operation),
        (aes, Some(128), &[], Usage::Sign, Kind::Syntax),
        (
            Algorithm::Hmac(Hash::Sha1),
            Some(0),
            &[],
            Usage::Sign,
            Kind::Operation,
        ),
        (Algorithm::Pbkdf2, None, &[], Usage::DeriveKey, Kind::NotSupported),
    ] {
        assert_eq!(
            generate(algorithm, bits, exponent, &[names]),
            Some(expected),
            "{algorithm:?} {bits:?}"
        );
    }
}
